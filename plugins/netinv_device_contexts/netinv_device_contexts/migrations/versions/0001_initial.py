"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'device_contexts_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('device_contexts_context',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('device_id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(64), nullable=False),
    sa.Column('identifier', sa.Integer(), nullable=True),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('primary_ip4_id', sa.Uuid(), nullable=True),
    sa.Column('primary_ip6_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['device_id'], ['dcim_device.id'], name=op.f('fk_device_contexts_context_device_id')),
    sa.ForeignKeyConstraint(['primary_ip4_id'], ['ipam_ip_address.id'], name=op.f('fk_device_contexts_context_primary_ip4_id')),
    sa.ForeignKeyConstraint(['primary_ip6_id'], ['ipam_ip_address.id'], name=op.f('fk_device_contexts_context_primary_ip6_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_device_contexts_context_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_device_contexts_context_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_device_contexts_context')),
    sa.UniqueConstraint('device_id', 'identifier', name=op.f('uq_device_contexts_context_device_id_identifier')),
    sa.UniqueConstraint('device_id', 'name', name=op.f('uq_device_contexts_context_device_id_name')),
    sa.UniqueConstraint('primary_ip4_id', name=op.f('uq_device_contexts_context_primary_ip4_id')),
    sa.UniqueConstraint('primary_ip6_id', name=op.f('uq_device_contexts_context_primary_ip6_id'))
    )
    with op.batch_alter_table('device_contexts_context', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_device_contexts_context_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_device_contexts_context_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('device_contexts_interface',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['device_contexts_context.id'], name=op.f('fk_device_contexts_interface_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['dcim_interface.id'], name=op.f('fk_device_contexts_interface_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_device_contexts_interface'))
    )
    with op.batch_alter_table('device_contexts_interface', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_device_contexts_interface_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('device_contexts_interface')
    op.drop_table('device_contexts_context')
