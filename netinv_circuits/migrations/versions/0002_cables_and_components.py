"""cables and components"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = "circuits_0002"
down_revision = "circuits_0001"


def upgrade() -> None:
    with op.batch_alter_table("circuits_circuit_termination", schema=None) as batch_op:
        batch_op.create_foreign_key(batch_op.f("fk_circuits_circuit_termination_cable_id"), "dcim_cable", ["cable_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("circuits_circuit_termination", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_circuits_circuit_termination_cable_id"), type_="foreignkey")
