"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "circuits_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "circuits_circuit_type",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_circuits_circuit_type")),
        sa.UniqueConstraint("name", name=op.f("uq_circuits_circuit_type_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_circuits_circuit_type_slug")),
    )
    op.create_table(
        "circuits_provider",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("asn", sa.BigInteger(), nullable=True),
        sa.Column("account", column_types.Chars(100), nullable=False),
        sa.Column("portal_url", column_types.Chars(200), nullable=False),
        sa.Column("noc_contact", column_types.LongText(), nullable=False),
        sa.Column("admin_contact", column_types.LongText(), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_circuits_provider")),
        sa.UniqueConstraint("name", name=op.f("uq_circuits_provider_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_circuits_provider_slug")),
    )
    op.create_table(
        "circuits_provider_network",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["provider_id"], ["circuits_provider.id"], name=op.f("fk_circuits_provider_network_provider_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_circuits_provider_network")),
        sa.UniqueConstraint("provider_id", "name", name=op.f("uq_circuits_provider_network_provider_id_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_circuits_provider_network_slug")),
    )
    with op.batch_alter_table("circuits_provider_network", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_circuits_provider_network_provider_id"), ["provider_id"], unique=False)

    op.create_table(
        "circuits_circuit",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("cid", column_types.Chars(100), nullable=False),
        sa.Column("provider_id", sa.Uuid(), nullable=False),
        sa.Column("type_id", sa.Uuid(), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("install_date", sa.Date(), nullable=True),
        sa.Column("commit_rate", sa.Integer(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("termination_a_id", sa.Uuid(), nullable=True),
        sa.Column("termination_z_id", sa.Uuid(), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["provider_id"], ["circuits_provider.id"], name=op.f("fk_circuits_circuit_provider_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_circuits_circuit_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_circuits_circuit_tenant_id")),
        sa.ForeignKeyConstraint(["type_id"], ["circuits_circuit_type.id"], name=op.f("fk_circuits_circuit_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_circuits_circuit")),
        sa.UniqueConstraint("provider_id", "cid", name=op.f("uq_circuits_circuit_provider_id_cid")),
    )
    with op.batch_alter_table("circuits_circuit", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_circuits_circuit_provider_id"), ["provider_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_a_id"), ["termination_a_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_z_id"), ["termination_z_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_type_id"), ["type_id"], unique=False)

    op.create_table(
        "circuits_circuit_termination",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("circuit_id", sa.Uuid(), nullable=False),
        sa.Column("term_side", column_types.Chars(1), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("provider_network_id", sa.Uuid(), nullable=True),
        sa.Column("port_speed", sa.Integer(), nullable=True),
        sa.Column("upstream_speed", sa.Integer(), nullable=True),
        sa.Column("xconnect_id", column_types.Chars(50), nullable=False),
        sa.Column("pp_info", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["circuit_id"], ["circuits_circuit.id"], name=op.f("fk_circuits_circuit_termination_circuit_id")),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_circuits_circuit_termination_location_id")),
        sa.ForeignKeyConstraint(["provider_network_id"], ["circuits_provider_network.id"], name=op.f("fk_circuits_circuit_termination_provider_network_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_circuits_circuit_termination_site_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_circuits_circuit_termination")),
        sa.UniqueConstraint("circuit_id", "term_side", name=op.f("uq_circuits_circuit_termination_circuit_id_term_side")),
    )
    with op.batch_alter_table("circuits_circuit_termination", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_circuit_id"), ["circuit_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_provider_network_id"), ["provider_network_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_circuits_circuit_termination_site_id"), ["site_id"], unique=False)


def downgrade() -> None:
    op.drop_table("circuits_circuit_termination")
    op.drop_table("circuits_circuit")
    op.drop_table("circuits_provider_network")
    op.drop_table("circuits_provider")
    op.drop_table("circuits_circuit_type")
