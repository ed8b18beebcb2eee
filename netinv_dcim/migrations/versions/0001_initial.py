"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "dcim_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "dcim_device_role",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("color", column_types.Chars(6), nullable=False),
        sa.Column("vm_role", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device_role")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_device_role_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_device_role_slug")),
    )
    op.create_table(
        "dcim_location_type",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("nestable", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["dcim_location_type.id"], name=op.f("fk_dcim_location_type_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_location_type")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_location_type_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_location_type_slug")),
    )
    with op.batch_alter_table("dcim_location_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_location_type_parent_id"), ["parent_id"], unique=False)

    op.create_table(
        "dcim_manufacturer",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_manufacturer")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_manufacturer_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_manufacturer_slug")),
    )
    op.create_table(
        "dcim_rack_role",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("color", column_types.Chars(6), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rack_role")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_rack_role_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_rack_role_slug")),
    )
    op.create_table(
        "dcim_region",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["parent_id"], ["dcim_region.id"], name=op.f("fk_dcim_region_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_region")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_region_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_region_slug")),
    )
    with op.batch_alter_table("dcim_region", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_region_parent_id"), ["parent_id"], unique=False)

    op.create_table(
        "dcim_virtual_chassis",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("domain", column_types.Chars(30), nullable=False),
        sa.Column("master_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_virtual_chassis")),
        sa.UniqueConstraint("master_id", name=op.f("uq_dcim_virtual_chassis_master_id")),
    )
    op.create_table(
        "dcim_device_redundancy_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("failover_strategy", column_types.Chars(50), nullable=False),
        sa.Column("secrets_group_id", sa.Uuid(), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["secrets_group_id"], ["extras_secrets_group.id"], name=op.f("fk_dcim_device_redundancy_group_secrets_group_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_device_redundancy_group_status_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device_redundancy_group")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_device_redundancy_group_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_device_redundancy_group_slug")),
    )
    with op.batch_alter_table("dcim_device_redundancy_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_redundancy_group_secrets_group_id"), ["secrets_group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_redundancy_group_status_id"), ["status_id"], unique=False)

    op.create_table(
        "dcim_device_type",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("manufacturer_id", sa.Uuid(), nullable=False),
        sa.Column("model", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("part_number", column_types.Chars(50), nullable=False),
        sa.Column("u_height", sa.Integer(), nullable=False),
        sa.Column("is_full_depth", sa.Boolean(), nullable=False),
        sa.Column("subdevice_role", column_types.Chars(50), nullable=False),
        sa.Column("front_image", column_types.Chars(100), nullable=True),
        sa.Column("rear_image", column_types.Chars(100), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["manufacturer_id"], ["dcim_manufacturer.id"], name=op.f("fk_dcim_device_type_manufacturer_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device_type")),
        sa.UniqueConstraint("manufacturer_id", "model", name=op.f("uq_dcim_device_type_manufacturer_id_model")),
        sa.UniqueConstraint("manufacturer_id", "slug", name=op.f("uq_dcim_device_type_manufacturer_id_slug")),
    )
    with op.batch_alter_table("dcim_device_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_type_manufacturer_id"), ["manufacturer_id"], unique=False)

    op.create_table(
        "dcim_location_type_label",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["dcim_location_type.id"], name=op.f("fk_dcim_location_type_label_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_dcim_location_type_label")),
    )
    with op.batch_alter_table("dcim_location_type_label", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_location_type_label_label"), ["label"], unique=False)

    op.create_table(
        "dcim_platform",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("manufacturer_id", sa.Uuid(), nullable=True),
        sa.Column("napalm_driver", column_types.Chars(50), nullable=False),
        sa.Column("napalm_args", column_types.Json(), nullable=True),
        sa.Column("network_driver", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["manufacturer_id"], ["dcim_manufacturer.id"], name=op.f("fk_dcim_platform_manufacturer_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_platform")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_platform_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_platform_slug")),
    )
    with op.batch_alter_table("dcim_platform", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_platform_manufacturer_id"), ["manufacturer_id"], unique=False)

    op.create_table(
        "dcim_interface_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("mgmt_only", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_interface_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_interface_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_interface_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_interface_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_interface_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_site",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("region_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("facility", column_types.Chars(50), nullable=False),
        sa.Column("asn", sa.BigInteger(), nullable=True),
        sa.Column("time_zone", column_types.Chars(63), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("physical_address", column_types.Chars(200), nullable=False),
        sa.Column("shipping_address", column_types.Chars(200), nullable=False),
        sa.Column("latitude", sa.Numeric(precision=8, scale=6), nullable=True),
        sa.Column("longitude", sa.Numeric(precision=9, scale=6), nullable=True),
        sa.Column("contact_name", column_types.Chars(50), nullable=False),
        sa.Column("contact_phone", column_types.Chars(20), nullable=False),
        sa.Column("contact_email", column_types.Chars(254), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["region_id"], ["dcim_region.id"], name=op.f("fk_dcim_site_region_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_site_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_dcim_site_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_site")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_site_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_site_slug")),
    )
    with op.batch_alter_table("dcim_site", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_site_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_site_region_id"), ["region_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_site_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_site_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "dcim_location",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("location_type_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["location_type_id"], ["dcim_location_type.id"], name=op.f("fk_dcim_location_location_type_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["dcim_location.id"], name=op.f("fk_dcim_location_parent_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_dcim_location_site_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_location_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_dcim_location_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_location")),
        sa.UniqueConstraint("parent_id", "name", name=op.f("uq_dcim_location_parent_id_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_dcim_location_slug")),
    )
    with op.batch_alter_table("dcim_location", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_location_location_type_id"), ["location_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_location_parent_id"), ["parent_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_location_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_location_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_location_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "dcim_rack_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=False),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_dcim_rack_group_location_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["dcim_rack_group.id"], name=op.f("fk_dcim_rack_group_parent_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_dcim_rack_group_site_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rack_group")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_dcim_rack_group_site_id_name")),
        sa.UniqueConstraint("site_id", "slug", name=op.f("uq_dcim_rack_group_site_id_slug")),
    )
    with op.batch_alter_table("dcim_rack_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_rack_group_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_group_parent_id"), ["parent_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_group_site_id"), ["site_id"], unique=False)

    op.create_table(
        "dcim_rack",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("role_id", sa.Uuid(), nullable=True),
        sa.Column("facility_id", column_types.Chars(50), nullable=True),
        sa.Column("site_id", sa.Uuid(), nullable=False),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("serial", column_types.Chars(255), nullable=False),
        sa.Column("asset_tag", column_types.Chars(50), nullable=True),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("u_height", sa.Integer(), nullable=False),
        sa.Column("desc_units", sa.Boolean(), nullable=False),
        sa.Column("outer_width", sa.Integer(), nullable=True),
        sa.Column("outer_depth", sa.Integer(), nullable=True),
        sa.Column("outer_unit", column_types.Chars(50), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["dcim_rack_group.id"], name=op.f("fk_dcim_rack_group_id")),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_dcim_rack_location_id")),
        sa.ForeignKeyConstraint(["role_id"], ["dcim_rack_role.id"], name=op.f("fk_dcim_rack_role_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_dcim_rack_site_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_rack_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_dcim_rack_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rack")),
        sa.UniqueConstraint("asset_tag", name=op.f("uq_dcim_rack_asset_tag")),
        sa.UniqueConstraint("group_id", "facility_id", name=op.f("uq_dcim_rack_group_id_facility_id")),
        sa.UniqueConstraint("group_id", "name", name=op.f("uq_dcim_rack_group_id_name")),
    )
    with op.batch_alter_table("dcim_rack", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_rack_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_role_id"), ["role_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "dcim_device",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=True),
        sa.Column("name_key", column_types.Chars(255), nullable=True),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("device_role_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("platform_id", sa.Uuid(), nullable=True),
        sa.Column("serial", column_types.Chars(255), nullable=False),
        sa.Column("asset_tag", column_types.Chars(100), nullable=True),
        sa.Column("site_id", sa.Uuid(), nullable=False),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("rack_id", sa.Uuid(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("face", column_types.Chars(50), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("primary_ip4_id", sa.Uuid(), nullable=True),
        sa.Column("primary_ip6_id", sa.Uuid(), nullable=True),
        sa.Column("secrets_group_id", sa.Uuid(), nullable=True),
        sa.Column("cluster_id", sa.Uuid(), nullable=True),
        sa.Column("virtual_chassis_id", sa.Uuid(), nullable=True),
        sa.Column("vc_position", sa.Integer(), nullable=True),
        sa.Column("vc_priority", sa.Integer(), nullable=True),
        sa.Column("device_redundancy_group_id", sa.Uuid(), nullable=True),
        sa.Column("device_redundancy_group_priority", sa.Integer(), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("local_context_schema_id", sa.Uuid(), nullable=True),
        sa.Column("local_context_data", column_types.Json(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_redundancy_group_id"], ["dcim_device_redundancy_group.id"], name=op.f("fk_dcim_device_device_redundancy_group_id")),
        sa.ForeignKeyConstraint(["device_role_id"], ["dcim_device_role.id"], name=op.f("fk_dcim_device_device_role_id")),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_device_device_type_id")),
        sa.ForeignKeyConstraint(["local_context_schema_id"], ["extras_config_context_schema.id"], name=op.f("fk_dcim_device_local_context_schema_id")),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_dcim_device_location_id")),
        sa.ForeignKeyConstraint(["platform_id"], ["dcim_platform.id"], name=op.f("fk_dcim_device_platform_id")),
        sa.ForeignKeyConstraint(["rack_id"], ["dcim_rack.id"], name=op.f("fk_dcim_device_rack_id")),
        sa.ForeignKeyConstraint(["secrets_group_id"], ["extras_secrets_group.id"], name=op.f("fk_dcim_device_secrets_group_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_dcim_device_site_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_device_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_dcim_device_tenant_id")),
        sa.ForeignKeyConstraint(["virtual_chassis_id"], ["dcim_virtual_chassis.id"], name=op.f("fk_dcim_device_virtual_chassis_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device")),
        sa.UniqueConstraint("asset_tag", name=op.f("uq_dcim_device_asset_tag")),
        sa.UniqueConstraint("primary_ip4_id", name=op.f("uq_dcim_device_primary_ip4_id")),
        sa.UniqueConstraint("primary_ip6_id", name=op.f("uq_dcim_device_primary_ip6_id")),
        sa.UniqueConstraint("rack_id", "position", "face", name=op.f("uq_dcim_device_rack_id_position_face")),
        sa.UniqueConstraint("site_id", "tenant_id", "name", name=op.f("uq_dcim_device_site_id_tenant_id_name")),
        sa.UniqueConstraint("virtual_chassis_id", "vc_position", name=op.f("uq_dcim_device_virtual_chassis_id_vc_position")),
    )
    with op.batch_alter_table("dcim_device", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_cluster_id"), ["cluster_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_device_redundancy_group_id"), ["device_redundancy_group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_device_role_id"), ["device_role_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_local_context_schema_id"), ["local_context_schema_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_platform_id"), ["platform_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_rack_id"), ["rack_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_secrets_group_id"), ["secrets_group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_virtual_chassis_id"), ["virtual_chassis_id"], unique=False)

    op.create_table(
        "dcim_rack_reservation",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("rack_id", sa.Uuid(), nullable=False),
        sa.Column("units", column_types.Json(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["rack_id"], ["dcim_rack.id"], name=op.f("fk_dcim_rack_reservation_rack_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_dcim_rack_reservation_tenant_id")),
        sa.ForeignKeyConstraint(["user_id"], ["core_user.id"], name=op.f("fk_dcim_rack_reservation_user_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rack_reservation")),
    )
    with op.batch_alter_table("dcim_rack_reservation", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_rack_reservation_rack_id"), ["rack_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_reservation_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rack_reservation_user_id"), ["user_id"], unique=False)

    op.create_table(
        "dcim_interface",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("parent_interface_id", sa.Uuid(), nullable=True),
        sa.Column("bridge_id", sa.Uuid(), nullable=True),
        sa.Column("lag_id", sa.Uuid(), nullable=True),
        sa.Column("mtu", sa.Integer(), nullable=True),
        sa.Column("mac_address", column_types.Chars(18), nullable=True),
        sa.Column("mgmt_only", sa.Boolean(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("mode", column_types.Chars(50), nullable=False),
        sa.Column("untagged_vlan_id", sa.Uuid(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["bridge_id"], ["dcim_interface.id"], name=op.f("fk_dcim_interface_bridge_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_interface_device_id")),
        sa.ForeignKeyConstraint(["lag_id"], ["dcim_interface.id"], name=op.f("fk_dcim_interface_lag_id")),
        sa.ForeignKeyConstraint(["parent_interface_id"], ["dcim_interface.id"], name=op.f("fk_dcim_interface_parent_interface_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_interface_status_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_interface")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_interface_device_id_name")),
    )
    with op.batch_alter_table("dcim_interface", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_interface_bridge_id"), ["bridge_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_lag_id"), ["lag_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_parent_interface_id"), ["parent_interface_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_untagged_vlan_id"), ["untagged_vlan_id"], unique=False)

    op.create_table(
        "dcim_interface_tagged_vlan",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["dcim_interface.id"], name=op.f("fk_dcim_interface_tagged_vlan_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_dcim_interface_tagged_vlan")),
    )
    with op.batch_alter_table("dcim_interface_tagged_vlan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_interface_tagged_vlan_target_id"), ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("dcim_interface_tagged_vlan")
    op.drop_table("dcim_interface")
    op.drop_table("dcim_rack_reservation")
    op.drop_table("dcim_device")
    op.drop_table("dcim_rack")
    op.drop_table("dcim_rack_group")
    op.drop_table("dcim_location")
    op.drop_table("dcim_site")
    op.drop_table("dcim_interface_template")
    op.drop_table("dcim_platform")
    op.drop_table("dcim_location_type_label")
    op.drop_table("dcim_device_type")
    op.drop_table("dcim_device_redundancy_group")
    op.drop_table("dcim_virtual_chassis")
    op.drop_table("dcim_region")
    op.drop_table("dcim_rack_role")
    op.drop_table("dcim_manufacturer")
    op.drop_table("dcim_location_type")
    op.drop_table("dcim_device_role")
