"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'wireless_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('wireless_lan_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('parent_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.Column('tree_key', column_types.LongText(), nullable=False),
    sa.Column('tree_names', column_types.Json(), nullable=False),
    sa.Column('tree_level', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['parent_id'], ['wireless_lan_group.id'], name=op.f('fk_wireless_lan_group_parent_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_wireless_lan_group')),
    sa.UniqueConstraint('name', name=op.f('uq_wireless_lan_group_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_wireless_lan_group_slug'))
    )
    with op.batch_alter_table('wireless_lan_group', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_wireless_lan_group_parent_id'), ['parent_id'], unique=False)

    op.create_table('wireless_lan',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('ssid', column_types.Chars(32), nullable=False),
    sa.Column('group_id', sa.Uuid(), nullable=True),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('vlan_id', sa.Uuid(), nullable=True),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('auth_type', column_types.Chars(50), nullable=False),
    sa.Column('auth_cipher', column_types.Chars(50), nullable=False),
    sa.Column('auth_psk', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['group_id'], ['wireless_lan_group.id'], name=op.f('fk_wireless_lan_group_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_wireless_lan_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_wireless_lan_tenant_id')),
    sa.ForeignKeyConstraint(['vlan_id'], ['ipam_vlan.id'], name=op.f('fk_wireless_lan_vlan_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_wireless_lan'))
    )
    with op.batch_alter_table('wireless_lan', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_wireless_lan_group_id'), ['group_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_lan_ssid'), ['ssid'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_lan_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_lan_tenant_id'), ['tenant_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_lan_vlan_id'), ['vlan_id'], unique=False)

    op.create_table('wireless_lan_interface',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['wireless_lan.id'], name=op.f('fk_wireless_lan_interface_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['dcim_interface.id'], name=op.f('fk_wireless_lan_interface_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_wireless_lan_interface'))
    )
    with op.batch_alter_table('wireless_lan_interface', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_wireless_lan_interface_target_id'), ['target_id'], unique=False)

    op.create_table('wireless_link',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('interface_a_id', sa.Uuid(), nullable=False),
    sa.Column('interface_b_id', sa.Uuid(), nullable=False),
    sa.Column('ssid', column_types.Chars(32), nullable=False),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('distance', sa.Numeric(precision=8, scale=2), nullable=True),
    sa.Column('distance_unit', column_types.Chars(50), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('auth_type', column_types.Chars(50), nullable=False),
    sa.Column('auth_cipher', column_types.Chars(50), nullable=False),
    sa.Column('auth_psk', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['interface_a_id'], ['dcim_interface.id'], name=op.f('fk_wireless_link_interface_a_id')),
    sa.ForeignKeyConstraint(['interface_b_id'], ['dcim_interface.id'], name=op.f('fk_wireless_link_interface_b_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_wireless_link_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_wireless_link_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_wireless_link')),
    sa.UniqueConstraint('interface_a_id', 'interface_b_id', name=op.f('uq_wireless_link_interface_a_id_interface_b_id'))
    )
    with op.batch_alter_table('wireless_link', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_wireless_link_interface_b_id'), ['interface_b_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_link_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_wireless_link_tenant_id'), ['tenant_id'], unique=False)



def downgrade() -> None:
    op.drop_table('wireless_link')
    op.drop_table('wireless_lan_interface')
    op.drop_table('wireless_lan')
    op.drop_table('wireless_lan_group')
