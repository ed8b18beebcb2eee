"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'fhrp_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('fhrp_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('protocol', column_types.Chars(50), nullable=False),
    sa.Column('group_id', sa.Integer(), nullable=False),
    sa.Column('auth_type', column_types.Chars(50), nullable=False),
    sa.Column('auth_key', column_types.LongText(), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fhrp_group'))
    )
    op.create_table('fhrp_group_assignment',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('group_id', sa.Uuid(), nullable=False),
    sa.Column('interface_type', column_types.Chars(100), nullable=False),
    sa.Column('interface_id', sa.Uuid(), nullable=False),
    sa.Column('priority', sa.Integer(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['group_id'], ['fhrp_group.id'], name=op.f('fk_fhrp_group_assignment_group_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_fhrp_group_assignment')),
    sa.UniqueConstraint('interface_id', 'interface_type', 'group_id', name=op.f('uq_fhrp_group_assignment_interface_id_interface_type_group_id'))
    )
    with op.batch_alter_table('fhrp_group_assignment', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_fhrp_group_assignment_group_id'), ['group_id'], unique=False)
        batch_op.create_index('ix_fhrp_group_assignment_interface', ['interface_id', 'interface_type'], unique=False)

    op.create_table('fhrp_group_address',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['fhrp_group.id'], name=op.f('fk_fhrp_group_address_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['ipam_ip_address.id'], name=op.f('fk_fhrp_group_address_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_fhrp_group_address'))
    )
    with op.batch_alter_table('fhrp_group_address', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_fhrp_group_address_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('fhrp_group_address')
    op.drop_table('fhrp_group_assignment')
    op.drop_table('fhrp_group')
