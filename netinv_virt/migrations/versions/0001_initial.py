"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "virtualization_0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "virtualization_cluster_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_virtualization_cluster_group")),
        sa.UniqueConstraint("name", name=op.f("uq_virtualization_cluster_group_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_virtualization_cluster_group_slug")),
    )
    op.create_table(
        "virtualization_cluster_type",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("slug", column_types.Chars(100), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_virtualization_cluster_type")),
        sa.UniqueConstraint("name", name=op.f("uq_virtualization_cluster_type_name")),
        sa.UniqueConstraint("slug", name=op.f("uq_virtualization_cluster_type_slug")),
    )
    op.create_table(
        "virtualization_cluster",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("type_id", sa.Uuid(), nullable=False),
        sa.Column("group_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("site_id", sa.Uuid(), nullable=True),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["group_id"], ["virtualization_cluster_group.id"], name=op.f("fk_virtualization_cluster_group_id")),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_virtualization_cluster_location_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_virtualization_cluster_site_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_virtualization_cluster_tenant_id")),
        sa.ForeignKeyConstraint(["type_id"], ["virtualization_cluster_type.id"], name=op.f("fk_virtualization_cluster_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_virtualization_cluster")),
        sa.UniqueConstraint("name", name=op.f("uq_virtualization_cluster_name")),
    )
    with op.batch_alter_table("virtualization_cluster", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_virtualization_cluster_group_id"), ["group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_cluster_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_cluster_site_id"), ["site_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_cluster_tenant_id"), ["tenant_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_cluster_type_id"), ["type_id"], unique=False)

    op.create_table(
        "virtualization_virtual_machine",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("cluster_id", sa.Uuid(), nullable=False),
        sa.Column("role_id", sa.Uuid(), nullable=True),
        sa.Column("tenant_id", sa.Uuid(), nullable=True),
        sa.Column("platform_id", sa.Uuid(), nullable=True),
        sa.Column("primary_ip4_id", sa.Uuid(), nullable=True),
        sa.Column("primary_ip6_id", sa.Uuid(), nullable=True),
        sa.Column("vcpus", sa.Integer(), nullable=True),
        sa.Column("memory", sa.Integer(), nullable=True),
        sa.Column("disk", sa.Integer(), nullable=True),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("local_context_data", column_types.Json(), nullable=True),
        sa.Column("local_context_schema_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cluster_id"], ["virtualization_cluster.id"], name=op.f("fk_virtualization_virtual_machine_cluster_id")),
        sa.ForeignKeyConstraint(
            ["local_context_schema_id"], ["extras_config_context_schema.id"], name=op.f("fk_virtualization_virtual_machine_local_context_schema_id")
        ),
        sa.ForeignKeyConstraint(["platform_id"], ["dcim_platform.id"], name=op.f("fk_virtualization_virtual_machine_platform_id")),
        sa.ForeignKeyConstraint(["role_id"], ["dcim_device_role.id"], name=op.f("fk_virtualization_virtual_machine_role_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_virtualization_virtual_machine_status_id")),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenancy_tenant.id"], name=op.f("fk_virtualization_virtual_machine_tenant_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_virtualization_virtual_machine")),
        sa.UniqueConstraint("cluster_id", "tenant_id", "name", name=op.f("uq_virtualization_virtual_machine_cluster_id_tenant_id_name")),
        sa.UniqueConstraint("primary_ip4_id", name=op.f("uq_virtualization_virtual_machine_primary_ip4_id")),
        sa.UniqueConstraint("primary_ip6_id", name=op.f("uq_virtualization_virtual_machine_primary_ip6_id")),
    )
    with op.batch_alter_table("virtualization_virtual_machine", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_cluster_id"), ["cluster_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_local_context_schema_id"), ["local_context_schema_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_platform_id"), ["platform_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_role_id"), ["role_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_virtual_machine_tenant_id"), ["tenant_id"], unique=False)

    op.create_table(
        "virtualization_vm_interface",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("virtual_machine_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("parent_interface_id", sa.Uuid(), nullable=True),
        sa.Column("bridge_id", sa.Uuid(), nullable=True),
        sa.Column("mtu", sa.Integer(), nullable=True),
        sa.Column("mac_address", column_types.Chars(18), nullable=True),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("mode", column_types.Chars(50), nullable=False),
        sa.Column("untagged_vlan_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["bridge_id"], ["virtualization_vm_interface.id"], name=op.f("fk_virtualization_vm_interface_bridge_id")),
        sa.ForeignKeyConstraint(["parent_interface_id"], ["virtualization_vm_interface.id"], name=op.f("fk_virtualization_vm_interface_parent_interface_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_virtualization_vm_interface_status_id")),
        sa.ForeignKeyConstraint(["untagged_vlan_id"], ["ipam_vlan.id"], name=op.f("fk_virtualization_vm_interface_untagged_vlan_id")),
        sa.ForeignKeyConstraint(["virtual_machine_id"], ["virtualization_virtual_machine.id"], name=op.f("fk_virtualization_vm_interface_virtual_machine_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_virtualization_vm_interface")),
        sa.UniqueConstraint("virtual_machine_id", "name", name=op.f("uq_virtualization_vm_interface_virtual_machine_id_name")),
    )
    with op.batch_alter_table("virtualization_vm_interface", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_bridge_id"), ["bridge_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_parent_interface_id"), ["parent_interface_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_untagged_vlan_id"), ["untagged_vlan_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_virtual_machine_id"), ["virtual_machine_id"], unique=False)

    op.create_table(
        "virtualization_vm_interface_tagged_vlan",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("target_id", sa.Uuid(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["virtualization_vm_interface.id"], name=op.f("fk_virtualization_vm_interface_tagged_vlan_owner_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["target_id"], ["ipam_vlan.id"], name=op.f("fk_virtualization_vm_interface_tagged_vlan_target_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "target_id", name=op.f("pk_virtualization_vm_interface_tagged_vlan")),
    )
    with op.batch_alter_table("virtualization_vm_interface_tagged_vlan", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_virtualization_vm_interface_tagged_vlan_target_id"), ["target_id"], unique=False)


def downgrade() -> None:
    op.drop_table("virtualization_vm_interface_tagged_vlan")
    op.drop_table("virtualization_vm_interface")
    op.drop_table("virtualization_virtual_machine")
    op.drop_table("virtualization_cluster")
    op.drop_table("virtualization_cluster_type")
    op.drop_table("virtualization_cluster_group")
