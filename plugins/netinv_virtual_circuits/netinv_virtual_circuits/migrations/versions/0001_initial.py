"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'virtual_circuits_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('virtual_circuits_type',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('color', column_types.Chars(6), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_virtual_circuits_type')),
    sa.UniqueConstraint('name', name=op.f('uq_virtual_circuits_type_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_virtual_circuits_type_slug'))
    )
    op.create_table('virtual_circuits_circuit',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('cid', column_types.Chars(100), nullable=False),
    sa.Column('provider_network_id', sa.Uuid(), nullable=False),
    sa.Column('provider_account_id', sa.Uuid(), nullable=True),
    sa.Column('type_id', sa.Uuid(), nullable=False),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['provider_account_id'], ['provider_accounts_account.id'], name=op.f('fk_virtual_circuits_circuit_provider_account_id')),
    sa.ForeignKeyConstraint(['provider_network_id'], ['circuits_provider_network.id'], name=op.f('fk_virtual_circuits_circuit_provider_network_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_virtual_circuits_circuit_status_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_virtual_circuits_circuit_tenant_id')),
    sa.ForeignKeyConstraint(['type_id'], ['virtual_circuits_type.id'], name=op.f('fk_virtual_circuits_circuit_type_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_virtual_circuits_circuit')),
    sa.UniqueConstraint('provider_network_id', 'cid', name=op.f('uq_virtual_circuits_circuit_provider_network_id_cid'))
    )
    with op.batch_alter_table('virtual_circuits_circuit', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_virtual_circuits_circuit_provider_account_id'), ['provider_account_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_virtual_circuits_circuit_status_id'), ['status_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_virtual_circuits_circuit_tenant_id'), ['tenant_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_virtual_circuits_circuit_type_id'), ['type_id'], unique=False)

    op.create_table('virtual_circuits_termination',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('virtual_circuit_id', sa.Uuid(), nullable=False),
    sa.Column('role', column_types.Chars(50), nullable=False),
    sa.Column('interface_id', sa.Uuid(), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['interface_id'], ['dcim_interface.id'], name=op.f('fk_virtual_circuits_termination_interface_id')),
    sa.ForeignKeyConstraint(['virtual_circuit_id'], ['virtual_circuits_circuit.id'], name=op.f('fk_virtual_circuits_termination_virtual_circuit_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_virtual_circuits_termination')),
    sa.UniqueConstraint('interface_id', name=op.f('uq_virtual_circuits_termination_interface_id'))
    )
    with op.batch_alter_table('virtual_circuits_termination', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_virtual_circuits_termination_virtual_circuit_id'), ['virtual_circuit_id'], unique=False)



def downgrade() -> None:
    op.drop_table('virtual_circuits_termination')
    op.drop_table('virtual_circuits_circuit')
    op.drop_table('virtual_circuits_type')
