"""members of any kind"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'circuit_groups_0002'
down_revision = 'circuit_groups_0001'
assignments = sa.table('circuit_groups_assignment', sa.column('circuit_id'), sa.column('member_type'), sa.column('member_id'))


def upgrade() -> None:
    with op.batch_alter_table('circuit_groups_assignment', schema=None) as batch_op:
        batch_op.add_column(sa.Column('member_type', column_types.Chars(100), nullable=True))
        batch_op.add_column(sa.Column('member_id', sa.Uuid(), nullable=True))
        batch_op.create_index(batch_op.f('ix_circuit_groups_assignment_group_id'), ['group_id'], unique=False)

    op.execute(sa.update(assignments).values(member_type='circuits.circuit', member_id=assignments.c.circuit_id))
    with op.batch_alter_table('circuit_groups_assignment', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_circuit_groups_assignment_circuit_id'), type_='foreignkey')
        batch_op.drop_constraint(batch_op.f('uq_circuit_groups_assignment_group_id_circuit_id'), type_='unique')
        batch_op.drop_index(batch_op.f('ix_circuit_groups_assignment_circuit_id'))
        batch_op.drop_column('circuit_id')
        batch_op.alter_column('member_type', existing_type=column_types.Chars(100), nullable=False)
        batch_op.alter_column('member_id', existing_type=sa.Uuid(), nullable=False)
        batch_op.create_unique_constraint(batch_op.f('uq_circuit_groups_assignment_member_id_member_type_group_id'), ['member_id', 'member_type', 'group_id'])



def downgrade() -> None:
    op.execute(sa.delete(assignments).where(assignments.c.member_type != 'circuits.circuit'))
    with op.batch_alter_table('circuit_groups_assignment', schema=None) as batch_op:
        batch_op.add_column(sa.Column('circuit_id', sa.Uuid(), nullable=True))

    op.execute(sa.update(assignments).values(circuit_id=assignments.c.member_id))
    with op.batch_alter_table('circuit_groups_assignment', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('uq_circuit_groups_assignment_member_id_member_type_group_id'), type_='unique')
        batch_op.drop_column('member_id')
        batch_op.drop_column('member_type')
        batch_op.alter_column('circuit_id', existing_type=sa.Uuid(), nullable=False)
        batch_op.create_index(batch_op.f('ix_circuit_groups_assignment_circuit_id'), ['circuit_id'], unique=False)
        batch_op.create_unique_constraint(batch_op.f('uq_circuit_groups_assignment_group_id_circuit_id'), ['group_id', 'circuit_id'])
        batch_op.create_foreign_key(batch_op.f('fk_circuit_groups_assignment_circuit_id'), 'circuits_circuit', ['circuit_id'], ['id'])
        batch_op.drop_index(batch_op.f('ix_circuit_groups_assignment_group_id'))
