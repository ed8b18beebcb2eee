"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'ip_ranges_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('ip_ranges_ip_range',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('start_address', column_types.Chars(43), nullable=False),
    sa.Column('end_address', column_types.Chars(43), nullable=False),
    sa.Column('low', column_types.Packed(16), nullable=False),
    sa.Column('high', column_types.Packed(16), nullable=False),
    sa.Column('ip_version', sa.SmallInteger(), nullable=False),
    sa.Column('size', sa.BigInteger(), nullable=False),
    sa.Column('vrf_id', sa.Uuid(), nullable=True),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('role_id', sa.Uuid(), nullable=True),
    sa.Column('mark_utilized', sa.Boolean(), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['role_id'], ['ipam_role.id'], name=op.f('fk_ip_ranges_ip_range_role_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_ip_ranges_ip_range_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_ip_ranges_ip_range_tenant_id')),
    sa.ForeignKeyConstraint(['vrf_id'], ['ipam_vrf.id'], name=op.f('fk_ip_ranges_ip_range_vrf_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_ip_ranges_ip_range'))
    )
    with op.batch_alter_table('ip_ranges_ip_range', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_end_address'), ['end_address'], unique=False)
        batch_op.create_index('ix_ip_ranges_ip_range_place', ['ip_version', 'low', 'high'], unique=False)
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_role_id'), ['role_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_start_address'), ['start_address'], unique=False)
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_tenant_id'), ['tenant_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_ip_ranges_ip_range_vrf_id'), ['vrf_id'], unique=False)



def downgrade() -> None:
    op.drop_table('ip_ranges_ip_range')
