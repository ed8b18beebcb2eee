"""cables and components"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "dcim_0002"
down_revision = "dcim_0001"


def upgrade() -> None:
    op.create_table(
        "dcim_cable",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("termination_a_type", column_types.Chars(100), nullable=False),
        sa.Column("termination_a_id", sa.Uuid(), nullable=False),
        sa.Column("termination_b_type", column_types.Chars(100), nullable=False),
        sa.Column("termination_b_id", sa.Uuid(), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.Column("color", column_types.Chars(6), nullable=False),
        sa.Column("length", sa.Integer(), nullable=True),
        sa.Column("length_unit", column_types.Chars(50), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_cable_status_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_cable")),
        sa.UniqueConstraint("termination_a_type", "termination_a_id", name=op.f("uq_dcim_cable_termination_a_type_termination_a_id")),
        sa.UniqueConstraint("termination_b_type", "termination_b_id", name=op.f("uq_dcim_cable_termination_b_type_termination_b_id")),
    )
    with op.batch_alter_table("dcim_cable", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_cable_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_cable_termination_a_id"), ["termination_a_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_cable_termination_b_id"), ["termination_b_id"], unique=False)

    op.create_table(
        "dcim_interface_redundancy_group",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("protocol", column_types.Chars(50), nullable=False),
        sa.Column("protocol_group_id", column_types.Chars(50), nullable=False),
        sa.Column("virtual_ip_id", sa.Uuid(), nullable=True),
        sa.Column("secrets_group_id", sa.Uuid(), nullable=True),
        sa.Column("created", column_types.Timestamp(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["secrets_group_id"], ["extras_secrets_group.id"], name=op.f("fk_dcim_interface_redundancy_group_secrets_group_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_interface_redundancy_group_status_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_interface_redundancy_group")),
        sa.UniqueConstraint("name", name=op.f("uq_dcim_interface_redundancy_group_name")),
    )
    with op.batch_alter_table("dcim_interface_redundancy_group", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_interface_redundancy_group_secrets_group_id"), ["secrets_group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_redundancy_group_status_id"), ["status_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_interface_redundancy_group_virtual_ip_id"), ["virtual_ip_id"], unique=False)

    op.create_table(
        "dcim_console_port_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_console_port_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_console_port_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_console_port_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_console_port_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_console_port_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_port_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_console_server_port_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_console_server_port_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_console_server_port_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_console_server_port_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_console_server_port_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_console_server_port_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_server_port_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_device_bay_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_device_bay_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device_bay_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_device_bay_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_device_bay_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_bay_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_bay_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_power_port_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("maximum_draw", sa.Integer(), nullable=True),
        sa.Column("allocated_draw", sa.Integer(), nullable=True),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_power_port_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_port_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_power_port_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_power_port_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_port_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_port_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_rear_port_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("positions", sa.Integer(), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_rear_port_template_device_type_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rear_port_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_rear_port_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_rear_port_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_rear_port_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rear_port_template_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_front_port_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("rear_port_id", sa.Uuid(), nullable=False),
        sa.Column("rear_port_position", sa.Integer(), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_front_port_template_device_type_id")),
        sa.ForeignKeyConstraint(["rear_port_id"], ["dcim_rear_port_template.id"], name=op.f("fk_dcim_front_port_template_rear_port_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_front_port_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_front_port_template_device_type_id_name")),
        sa.UniqueConstraint("rear_port_id", "rear_port_position", name=op.f("uq_dcim_front_port_template_rear_port_id_rear_port_position")),
    )
    with op.batch_alter_table("dcim_front_port_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_front_port_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_front_port_template_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_front_port_template_rear_port_id"), ["rear_port_id"], unique=False)

    op.create_table(
        "dcim_power_outlet_template",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_type_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("power_port_id", sa.Uuid(), nullable=True),
        sa.Column("feed_leg", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_type_id"], ["dcim_device_type.id"], name=op.f("fk_dcim_power_outlet_template_device_type_id")),
        sa.ForeignKeyConstraint(["power_port_id"], ["dcim_power_port_template.id"], name=op.f("fk_dcim_power_outlet_template_power_port_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_outlet_template")),
        sa.UniqueConstraint("device_type_id", "name", name=op.f("uq_dcim_power_outlet_template_device_type_id_name")),
    )
    with op.batch_alter_table("dcim_power_outlet_template", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_template_device_type_id"), ["device_type_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_template_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_template_power_port_id"), ["power_port_id"], unique=False)

    op.create_table(
        "dcim_power_panel",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("site_id", sa.Uuid(), nullable=False),
        sa.Column("location_id", sa.Uuid(), nullable=True),
        sa.Column("rack_group_id", sa.Uuid(), nullable=True),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["location_id"], ["dcim_location.id"], name=op.f("fk_dcim_power_panel_location_id")),
        sa.ForeignKeyConstraint(["rack_group_id"], ["dcim_rack_group.id"], name=op.f("fk_dcim_power_panel_rack_group_id")),
        sa.ForeignKeyConstraint(["site_id"], ["dcim_site.id"], name=op.f("fk_dcim_power_panel_site_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_panel")),
        sa.UniqueConstraint("site_id", "name", name=op.f("uq_dcim_power_panel_site_id_name")),
    )
    with op.batch_alter_table("dcim_power_panel", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_panel_location_id"), ["location_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_panel_rack_group_id"), ["rack_group_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_panel_site_id"), ["site_id"], unique=False)

    op.create_table(
        "dcim_power_feed",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("power_panel_id", sa.Uuid(), nullable=False),
        sa.Column("rack_id", sa.Uuid(), nullable=True),
        sa.Column("name", column_types.Chars(100), nullable=False),
        sa.Column("status_id", sa.Uuid(), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("supply", column_types.Chars(50), nullable=False),
        sa.Column("phase", column_types.Chars(50), nullable=False),
        sa.Column("voltage", sa.Integer(), nullable=False),
        sa.Column("amperage", sa.Integer(), nullable=False),
        sa.Column("max_utilization", sa.Integer(), nullable=False),
        sa.Column("available_power", sa.Integer(), nullable=False),
        sa.Column("comments", column_types.LongText(), nullable=False),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_power_feed_cable_id")),
        sa.ForeignKeyConstraint(["power_panel_id"], ["dcim_power_panel.id"], name=op.f("fk_dcim_power_feed_power_panel_id")),
        sa.ForeignKeyConstraint(["rack_id"], ["dcim_rack.id"], name=op.f("fk_dcim_power_feed_rack_id")),
        sa.ForeignKeyConstraint(["status_id"], ["extras_status.id"], name=op.f("fk_dcim_power_feed_status_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_feed")),
        sa.UniqueConstraint("power_panel_id", "name", name=op.f("uq_dcim_power_feed_power_panel_id_name")),
    )
    with op.batch_alter_table("dcim_power_feed", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_feed_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_feed_power_panel_id"), ["power_panel_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_feed_rack_id"), ["rack_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_feed_status_id"), ["status_id"], unique=False)

    op.create_table(
        "dcim_console_port",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_console_port_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_console_port_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_console_port")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_console_port_device_id_name")),
    )
    with op.batch_alter_table("dcim_console_port", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_console_port_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_port_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_port_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_console_server_port",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_console_server_port_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_console_server_port_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_console_server_port")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_console_server_port_device_id_name")),
    )
    with op.batch_alter_table("dcim_console_server_port", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_console_server_port_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_server_port_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_console_server_port_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_device_bay",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("installed_device_id", sa.Uuid(), nullable=True),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_device_bay_device_id")),
        sa.ForeignKeyConstraint(["installed_device_id"], ["dcim_device.id"], name=op.f("fk_dcim_device_bay_installed_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_device_bay")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_device_bay_device_id_name")),
        sa.UniqueConstraint("installed_device_id", name=op.f("uq_dcim_device_bay_installed_device_id")),
    )
    with op.batch_alter_table("dcim_device_bay", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_bay_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_bay_installed_device_id"), ["installed_device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_bay_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_inventory_item",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("manufacturer_id", sa.Uuid(), nullable=True),
        sa.Column("part_id", column_types.Chars(50), nullable=False),
        sa.Column("serial", column_types.Chars(255), nullable=False),
        sa.Column("asset_tag", column_types.Chars(50), nullable=True),
        sa.Column("discovered", sa.Boolean(), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.Column("tree_key", column_types.LongText(), nullable=False),
        sa.Column("tree_names", column_types.Json(), nullable=False),
        sa.Column("tree_level", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_inventory_item_device_id")),
        sa.ForeignKeyConstraint(["manufacturer_id"], ["dcim_manufacturer.id"], name=op.f("fk_dcim_inventory_item_manufacturer_id")),
        sa.ForeignKeyConstraint(["parent_id"], ["dcim_inventory_item.id"], name=op.f("fk_dcim_inventory_item_parent_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_inventory_item")),
        sa.UniqueConstraint("asset_tag", name=op.f("uq_dcim_inventory_item_asset_tag")),
        sa.UniqueConstraint("device_id", "parent_id", "name", name=op.f("uq_dcim_inventory_item_device_id_parent_id_name")),
    )
    with op.batch_alter_table("dcim_inventory_item", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_inventory_item_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_inventory_item_manufacturer_id"), ["manufacturer_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_inventory_item_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_inventory_item_parent_id"), ["parent_id"], unique=False)

    op.create_table(
        "dcim_power_port",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("maximum_draw", sa.Integer(), nullable=True),
        sa.Column("allocated_draw", sa.Integer(), nullable=True),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_power_port_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_power_port_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_port")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_power_port_device_id_name")),
    )
    with op.batch_alter_table("dcim_power_port", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_port_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_port_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_port_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_rear_port",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("positions", sa.Integer(), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_rear_port_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_rear_port_device_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_rear_port")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_rear_port_device_id_name")),
    )
    with op.batch_alter_table("dcim_rear_port", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_rear_port_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rear_port_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_rear_port_name_key"), ["name_key"], unique=False)

    op.create_table(
        "dcim_front_port",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("rear_port_id", sa.Uuid(), nullable=False),
        sa.Column("rear_port_position", sa.Integer(), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_front_port_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_front_port_device_id")),
        sa.ForeignKeyConstraint(["rear_port_id"], ["dcim_rear_port.id"], name=op.f("fk_dcim_front_port_rear_port_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_front_port")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_front_port_device_id_name")),
        sa.UniqueConstraint("rear_port_id", "rear_port_position", name=op.f("uq_dcim_front_port_rear_port_id_rear_port_position")),
    )
    with op.batch_alter_table("dcim_front_port", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_front_port_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_front_port_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_front_port_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_front_port_rear_port_id"), ["rear_port_id"], unique=False)

    op.create_table(
        "dcim_interface_redundancy_group_association",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("interface_redundancy_group_id", sa.Uuid(), nullable=False),
        sa.Column("interface_id", sa.Uuid(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["interface_id"], ["dcim_interface.id"], name=op.f("fk_dcim_interface_redundancy_group_association_interface_id")),
        sa.ForeignKeyConstraint(
            ["interface_redundancy_group_id"],
            ["dcim_interface_redundancy_group.id"],
            name=op.f("fk_dcim_interface_redundancy_group_association_interface_redundancy_group_id"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_interface_redundancy_group_association")),
        sa.UniqueConstraint(
            "interface_redundancy_group_id",
            "interface_id",
            name=op.f("uq_dcim_interface_redundancy_group_association_interface_redundancy_group_id_interface_id"),
        ),
    )
    with op.batch_alter_table("dcim_interface_redundancy_group_association", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_interface_redundancy_group_association_interface_id"), ["interface_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_dcim_interface_redundancy_group_association_interface_redundancy_group_id"), ["interface_redundancy_group_id"], unique=False
        )

    op.create_table(
        "dcim_power_outlet",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("device_id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(64), nullable=False),
        sa.Column("label", column_types.Chars(64), nullable=False),
        sa.Column("type", column_types.Chars(50), nullable=False),
        sa.Column("power_port_id", sa.Uuid(), nullable=True),
        sa.Column("feed_leg", column_types.Chars(50), nullable=False),
        sa.Column("name_key", column_types.Chars(255), nullable=False),
        sa.Column("description", column_types.Chars(200), nullable=False),
        sa.Column("connected_endpoint_type", column_types.Chars(100), nullable=True),
        sa.Column("connected_endpoint_id", sa.Uuid(), nullable=True),
        sa.Column("connected_endpoint_reachable", sa.Boolean(), nullable=True),
        sa.Column("cable_id", sa.Uuid(), nullable=True),
        sa.Column("cable_peer_type", column_types.Chars(100), nullable=True),
        sa.Column("cable_peer_id", sa.Uuid(), nullable=True),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.ForeignKeyConstraint(["cable_id"], ["dcim_cable.id"], name=op.f("fk_dcim_power_outlet_cable_id")),
        sa.ForeignKeyConstraint(["device_id"], ["dcim_device.id"], name=op.f("fk_dcim_power_outlet_device_id")),
        sa.ForeignKeyConstraint(["power_port_id"], ["dcim_power_port.id"], name=op.f("fk_dcim_power_outlet_power_port_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dcim_power_outlet")),
        sa.UniqueConstraint("device_id", "name", name=op.f("uq_dcim_power_outlet_device_id_name")),
    )
    with op.batch_alter_table("dcim_power_outlet", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_cable_id"), ["cable_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_device_id"), ["device_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_name_key"), ["name_key"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_power_outlet_power_port_id"), ["power_port_id"], unique=False)

    with op.batch_alter_table("dcim_device_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dcim_device_type_front_image"), ["front_image"], unique=False)
        batch_op.create_index(batch_op.f("ix_dcim_device_type_rear_image"), ["rear_image"], unique=False)

    with op.batch_alter_table("dcim_interface", schema=None) as batch_op:
        batch_op.create_foreign_key(batch_op.f("fk_dcim_interface_cable_id"), "dcim_cable", ["cable_id"], ["id"])


def downgrade() -> None:
    with op.batch_alter_table("dcim_interface", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("fk_dcim_interface_cable_id"), type_="foreignkey")

    with op.batch_alter_table("dcim_device_type", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_dcim_device_type_rear_image"))
        batch_op.drop_index(batch_op.f("ix_dcim_device_type_front_image"))

    op.drop_table("dcim_power_outlet")
    op.drop_table("dcim_interface_redundancy_group_association")
    op.drop_table("dcim_front_port")
    op.drop_table("dcim_rear_port")
    op.drop_table("dcim_power_port")
    op.drop_table("dcim_inventory_item")
    op.drop_table("dcim_device_bay")
    op.drop_table("dcim_console_server_port")
    op.drop_table("dcim_console_port")
    op.drop_table("dcim_power_feed")
    op.drop_table("dcim_power_panel")
    op.drop_table("dcim_power_outlet_template")
    op.drop_table("dcim_front_port_template")
    op.drop_table("dcim_rear_port_template")
    op.drop_table("dcim_power_port_template")
    op.drop_table("dcim_device_bay_template")
    op.drop_table("dcim_console_server_port_template")
    op.drop_table("dcim_console_port_template")
    op.drop_table("dcim_interface_redundancy_group")
    op.drop_table("dcim_cable")
