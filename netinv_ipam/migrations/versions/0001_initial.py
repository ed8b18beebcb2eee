"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "ipam_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "ipam_rir",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_rir")),
        sa.UniqueConstraint("name", name=op.f("uq_ipam_rir_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_ipam_rir_slug")),
    )
    op.create_table(
        "ipam_role",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_role")),
        sa.UniqueConstraint("name", name=op.f("uq_ipam_role_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_ipam_role_slug")),
    )
    op.create_table(
        "ipam_aggregate",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("prefix", column_types.Chars(43), nullable=False),
        sa.Column("rir_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("date_added", sa.Date(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("network", column_types.Packed(16), nullable=False),
        sa.Column("broadcast", column_types.Packed(16), nullable=False),
        sa.Column("prefix_length", sa.Integer(), nullable=False),
        sa.Column("ip_version", sa.SmallInteger(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["rir_id"], ["ipam_rir.id"], name=op.f("fk_ipam_aggregate_rir_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_aggregate_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_aggregate")),
    )
    with op.batch_alter_table("ipam_aggregate", schema=None) as batch_op:
        batch_op.create_index("ix_ipam_aggregate_place", ["network", "broadcast"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_aggregate_prefix"), ["prefix"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_aggregate_rir_id"), ["rir_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_aggregate_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "ipam_route_target",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(21), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_route_target_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_route_target")),
        sa.UniqueConstraint("name", name=op.f("uq_ipam_route_target_name")),
    )
    with op.batch_alter_table("ipam_route_target", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_route_target_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "ipam_vrf",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("rd", column_types.Chars(21), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("enforce_unique", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_vrf_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_vrf")),
        sa.UniqueConstraint("rd", name=op.f("uq_ipam_vrf_rd")),
    )
    with op.batch_alter_table("ipam_vrf", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_vrf_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "ipam_ip_address",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("address", column_types.Chars(43), nullable=False),
        sa.Column("vrf_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("role", column_types.Chars(50), nullable=False),
        sa.Column("assigned_object_type", column_types.Chars(100), nullable=True),
        sa.Column("assigned_object_id", sa.Uuid(), nullable=True),
        sa.Column("nat_inside_id", sa.Uuid(), nullable=True),
        sa.Column("dns_name", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("host", column_types.Packed(16), nullable=False),
        sa.Column("broadcast", column_types.Packed(16), nullable=False),
        sa.Column("prefix_length", sa.Integer(), nullable=False),
        sa.Column("ip_version", sa.SmallInteger(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["nat_inside_id"], ["ipam_ip_address.id"], name=op.f("fk_ipam_ip_address_nat_inside_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_ipam_ip_address_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_ip_address_tenant_id")),
        sa.ForeignKeyConstraint(["vrf_id"], ["ipam_vrf.id"], name=op.f("fk_ipam_ip_address_vrf_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_ip_address")),
    )
    with op.batch_alter_table("ipam_ip_address", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_ip_address_address"), ["address"], unique=False)
        batch_op.create_index("ix_ipam_ip_address_assigned", ["assigned_object_id", "assigned_object_type"], unique=False)
        batch_op.create_index("ix_ipam_ip_address_edge", ["broadcast"], unique=False)
        batch_op.create_index("ix_ipam_ip_address_in_vrf", ["vrf_id", "ip_version", "host"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_ip_address_nat_inside_id"), ["nat_inside_id"], unique=False)
        batch_op.create_index("ix_ipam_ip_address_place", ["host", "prefix_length", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_ip_address_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_ip_address_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_ip_address_vrf_id"), ["vrf_id"], unique=False)

    op.create_table(
        "ipam_vrf_export_target",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["ipam_vrf.id"], name=op.f("fk_ipam_vrf_export_target_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["ipam_route_target.id"], name=op.f("fk_ipam_vrf_export_target_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_ipam_vrf_export_target")),
    )
    with op.batch_alter_table("ipam_vrf_export_target", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_vrf_export_target_target_id"), ["target_id"], unique=False)

    op.create_table(
        "ipam_vrf_import_target",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["ipam_vrf.id"], name=op.f("fk_ipam_vrf_import_target_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["ipam_route_target.id"], name=op.f("fk_ipam_vrf_import_target_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_ipam_vrf_import_target")),
    )
    with op.batch_alter_table("ipam_vrf_import_target", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_vrf_import_target_target_id"), ["target_id"], unique=False)

    op.create_table(
        "ipam_vlan_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_ipam_vlan_group_location_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_ipam_vlan_group_site_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_vlan_group")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_ipam_vlan_group_site_id_name")),
        sa.UniqueConstraint("site_id", "slug", name=op.f("uq_ipam_vlan_group_site_id_slug")),
    )
    with op.batch_alter_table("ipam_vlan_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_vlan_group_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_group_site_id"), ["site_id"], unique=False)

    op.create_table(
        "ipam_vlan",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("vid", sa.Integer(), nullable=False),
        sa.Column("name", column_types.Chars(255), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("role_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["ipam_vlan_group.id"], name=op.f("fk_ipam_vlan_group_id")),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_ipam_vlan_location_id")),
        sa.ForeignKeyConstraint(["role_id"], ["ipam_role.id"], name=op.f("fk_ipam_vlan_role_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_ipam_vlan_site_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_ipam_vlan_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_vlan_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_vlan")),
        sa.UniqueConstraint("group_id", "name", name=op.f("uq_ipam_vlan_group_id_name")),
        sa.UniqueConstraint("group_id", "vid", name=op.f("uq_ipam_vlan_group_id_vid")),
    )
    with op.batch_alter_table("ipam_vlan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_vlan_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_role_id"), ["role_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_vlan_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "ipam_prefix",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("prefix", column_types.Chars(43), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("vrf_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("vlan_id", sa.Uuid(), nullable=True),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("role_id", sa.Uuid(), nullable=True),
        sa.Column("is_pool", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("network", column_types.Packed(16), nullable=False),
        sa.Column("broadcast", column_types.Packed(16), nullable=False),
        sa.Column("prefix_length", sa.Integer(), nullable=False),
        sa.Column("ip_version", sa.SmallInteger(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_ipam_prefix_location_id")),
        sa.ForeignKeyConstraint(["role_id"], ["ipam_role.id"], name=op.f("fk_ipam_prefix_role_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_ipam_prefix_site_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_ipam_prefix_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_ipam_prefix_tenant_id")),
        sa.ForeignKeyConstraint(["vlan_id"], ["ipam_vlan.id"], name=op.f("fk_ipam_prefix_vlan_id")),
        sa.ForeignKeyConstraint(["vrf_id"], ["ipam_vrf.id"], name=op.f("fk_ipam_prefix_vrf_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_prefix")),
    )
    with op.batch_alter_table("ipam_prefix", schema=None) as batch_op:
        batch_op.create_index("ix_ipam_prefix_in_vrf", ["vrf_id", "ip_version", "network"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_location_id"), ["location_id"], unique=False)
        batch_op.create_index("ix_ipam_prefix_place", ["network", "prefix_length"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_prefix"), ["prefix"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_role_id"), ["role_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_vlan_id"), ["vlan_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_prefix_vrf_id"), ["vrf_id"], unique=False)

    op.create_table(
        "ipam_service",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=True),
        sa.Column("virtual_machine_id", sa.Uuid(), nullable=True),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("ports", column_types.Json(), nullable=False),
        sa.Column("port_key", column_types.LongText(), nullable=False),
        sa.Column("protocol", column_types.Chars(50), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_ipam_service_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ipam_service")),
    )
    with op.batch_alter_table("ipam_service", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_service_device_id"), ["device_id"], unique=False)
        batch_op.create_index("ix_ipam_service_place", ["protocol"], unique=False)
        batch_op.create_index(batch_op.f("ix_ipam_service_virtual_machine_id"), ["virtual_machine_id"], unique=False)

    op.create_table(
        "ipam_service_address",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["ipam_service.id"], name=op.f("fk_ipam_service_address_owner_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target_id"], ["ipam_ip_address.id"], name=op.f("fk_ipam_service_address_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_ipam_service_address")),
    )
    with op.batch_alter_table("ipam_service_address", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ipam_service_address_target_id"), ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("ipam_service_address")
    op.drop_table("ipam_service")
    op.drop_table("ipam_prefix")
    op.drop_table("ipam_vlan")
    op.drop_table("ipam_vlan_group")
    op.drop_table("ipam_vrf_import_target")
    op.drop_table("ipam_vrf_export_target")
    op.drop_table("ipam_ip_address")
    op.drop_table("ipam_vrf")
    op.drop_table("ipam_route_target")
    op.drop_table("ipam_aggregate")
    op.drop_table("ipam_role")
    op.drop_table("ipam_rir")
