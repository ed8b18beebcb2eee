"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'vpn_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('vpn_tunnel_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_tunnel_group')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_tunnel_group_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_vpn_tunnel_group_slug'))
    )
    op.create_table('vpn_l2vpn',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('type', column_types.Chars(50), nullable=False),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('identifier', sa.BigInteger(), nullable=True),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_vpn_l2vpn_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_vpn_l2vpn_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_l2vpn')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_l2vpn_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_vpn_l2vpn_slug'))
    )
    with op.batch_alter_table('vpn_l2vpn', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_l2vpn_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_vpn_l2vpn_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('vpn_tunnel',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('group_id', sa.Uuid(), nullable=True),
    sa.Column('encapsulation', column_types.Chars(50), nullable=False),
    sa.Column('tunnel_id', sa.BigInteger(), nullable=True),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['group_id'], ['vpn_tunnel_group.id'], name=op.f('fk_vpn_tunnel_group_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_vpn_tunnel_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_vpn_tunnel_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_tunnel')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_tunnel_name'))
    )
    with op.batch_alter_table('vpn_tunnel', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_group_id'), ['group_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('vpn_l2vpn_export_target',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['vpn_l2vpn.id'], name=op.f('fk_vpn_l2vpn_export_target_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['ipam_route_target.id'], name=op.f('fk_vpn_l2vpn_export_target_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_vpn_l2vpn_export_target'))
    )
    with op.batch_alter_table('vpn_l2vpn_export_target', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_l2vpn_export_target_target_id'), ['target_id'], unique=False)

    op.create_table('vpn_l2vpn_import_target',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['vpn_l2vpn.id'], name=op.f('fk_vpn_l2vpn_import_target_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['ipam_route_target.id'], name=op.f('fk_vpn_l2vpn_import_target_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_vpn_l2vpn_import_target'))
    )
    with op.batch_alter_table('vpn_l2vpn_import_target', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_l2vpn_import_target_target_id'), ['target_id'], unique=False)

    op.create_table('vpn_l2vpn_termination',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('l2vpn_id', sa.Uuid(), nullable=False),
    sa.Column('assigned_object_type', column_types.Chars(100), nullable=False),
    sa.Column('assigned_object_id', sa.Uuid(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['l2vpn_id'], ['vpn_l2vpn.id'], name=op.f('fk_vpn_l2vpn_termination_l2vpn_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_l2vpn_termination')),
    sa.UniqueConstraint('assigned_object_id', 'assigned_object_type', name=op.f('uq_vpn_l2vpn_termination_assigned_object_id_assigned_object_type'))
    )
    with op.batch_alter_table('vpn_l2vpn_termination', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_l2vpn_termination_l2vpn_id'), ['l2vpn_id'], unique=False)

    op.create_table('vpn_tunnel_termination',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('tunnel_id', sa.Uuid(), nullable=False),
    sa.Column('role', column_types.Chars(50), nullable=False),
    sa.Column('termination_type', column_types.Chars(100), nullable=False),
    sa.Column('termination_id', sa.Uuid(), nullable=False),
    sa.Column('outside_ip_id', sa.Uuid(), nullable=True),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['outside_ip_id'], ['ipam_ip_address.id'], name=op.f('fk_vpn_tunnel_termination_outside_ip_id')),
    sa.ForeignKeyConstraint(['tunnel_id'], ['vpn_tunnel.id'], name=op.f('fk_vpn_tunnel_termination_tunnel_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_tunnel_termination')),
    sa.UniqueConstraint('termination_id', 'termination_type', 'tunnel_id', name=op.f('uq_vpn_tunnel_termination_termination_id_termination_type_tunnel_id'))
    )
    with op.batch_alter_table('vpn_tunnel_termination', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_termination_outside_ip_id'), ['outside_ip_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_termination_tunnel_id'), ['tunnel_id'], unique=False)



def downgrade() -> None:
    op.drop_table('vpn_tunnel_termination')
    op.drop_table('vpn_l2vpn_termination')
    op.drop_table('vpn_l2vpn_import_target')
    op.drop_table('vpn_l2vpn_export_target')
    op.drop_table('vpn_tunnel')
    op.drop_table('vpn_l2vpn')
    op.drop_table('vpn_tunnel_group')
