"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'circuit_groups_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('circuit_groups_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_circuit_groups_group_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_circuit_groups_group')),
    sa.UniqueConstraint('name', name=op.f('uq_circuit_groups_group_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_circuit_groups_group_slug'))
    )
    with op.batch_alter_table('circuit_groups_group', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_circuit_groups_group_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('circuit_groups_assignment',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('group_id', sa.Uuid(), nullable=False),
    sa.Column('circuit_id', sa.Uuid(), nullable=False),
    sa.Column('priority', column_types.Chars(50), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['circuit_id'], ['circuits_circuit.id'], name=op.f('fk_circuit_groups_assignment_circuit_id')),
    sa.ForeignKeyConstraint(['group_id'], ['circuit_groups_group.id'], name=op.f('fk_circuit_groups_assignment_group_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_circuit_groups_assignment')),
    sa.UniqueConstraint('group_id', 'circuit_id', name=op.f('uq_circuit_groups_assignment_group_id_circuit_id'))
    )
    with op.batch_alter_table('circuit_groups_assignment', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_circuit_groups_assignment_circuit_id'), ['circuit_id'], unique=False)



def downgrade() -> None:
    op.drop_table('circuit_groups_assignment')
    op.drop_table('circuit_groups_group')
