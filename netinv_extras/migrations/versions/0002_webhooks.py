"""webhooks"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = "extras_0002"
down_revision = "extras_0001"


def upgrade() -> None:
    op.create_table(
        "extras_webhook",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", column_types.Chars(150), nullable=False),
        sa.Column("type_create", sa.Boolean(), nullable=False),
        sa.Column("type_update", sa.Boolean(), nullable=False),
        sa.Column("type_delete", sa.Boolean(), nullable=False),
        sa.Column("payload_url", column_types.Chars(500), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("http_method", column_types.Chars(30), nullable=False),
        sa.Column("http_content_type", column_types.Chars(100), nullable=False),
        sa.Column("additional_headers", column_types.LongText(), nullable=False),
        sa.Column("body_template", column_types.LongText(), nullable=False),
        sa.Column("secret", column_types.LongText(), nullable=False),
        sa.Column("ssl_verification", sa.Boolean(), nullable=False),
        sa.Column("ca_file_path", column_types.Chars(4096), nullable=True),
        sa.Column("retries", sa.Integer(), nullable=False),
        sa.Column("retry_after", sa.Integer(), nullable=False),
        sa.Column("created", sa.Date(), nullable=False),
        sa.Column("last_updated", column_types.Timestamp(), nullable=False),
        sa.Column("custom_field_data", column_types.Json(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_webhook")),
        sa.UniqueConstraint("name", name=op.f("uq_extras_webhook_name")),
    )
    op.create_table(
        "extras_webhook_delivery",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("change_id", sa.Uuid(), nullable=False),
        sa.Column("event", column_types.Chars(50), nullable=False),
        sa.Column("changed_object_type", column_types.Chars(100), nullable=False),
        sa.Column("changed_object_id", sa.Uuid(), nullable=False),
        sa.Column("object_repr", column_types.Chars(200), nullable=False),
        sa.Column("request_id", sa.Uuid(), nullable=False),
        sa.Column("user_name", column_types.Chars(150), nullable=False),
        sa.Column("time", column_types.Timestamp(), nullable=False),
        sa.Column("state", column_types.Chars(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due", column_types.Timestamp(), nullable=False),
        sa.Column("finished", column_types.Timestamp(), nullable=True),
        sa.Column("claimed_by", sa.Uuid(), nullable=True),
        sa.Column("claimed_until", column_types.Timestamp(), nullable=True),
        sa.ForeignKeyConstraint(["webhook_id"], ["extras_webhook.id"], name=op.f("fk_extras_webhook_delivery_webhook_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_webhook_delivery")),
    )
    with op.batch_alter_table("extras_webhook_delivery", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_change_id"), ["change_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_changed_object_id"), ["changed_object_id"], unique=False)
        batch_op.create_index("ix_extras_webhook_delivery_lane", ["webhook_id", "changed_object_id", "state", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_request_id"), ["request_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_time"), ["time"], unique=False)
        batch_op.create_index("ix_extras_webhook_delivery_waiting", ["state", "webhook_id", "due", "id"], unique=False)
        batch_op.create_index(batch_op.f("ix_extras_webhook_delivery_webhook_id"), ["webhook_id"], unique=False)

    op.create_table(
        "extras_webhook_type",
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("label", column_types.Chars(100), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["extras_webhook.id"], name=op.f("fk_extras_webhook_type_owner_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("owner_id", "label", name=op.f("pk_extras_webhook_type")),
    )
    with op.batch_alter_table("extras_webhook_type", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_webhook_type_label"), ["label"], unique=False)

    op.create_table(
        "extras_webhook_attempt",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("delivery_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("time", column_types.Timestamp(), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("error", column_types.LongText(), nullable=False),
        sa.Column("answer", column_types.LongText(), nullable=False),
        sa.ForeignKeyConstraint(["delivery_id"], ["extras_webhook_delivery.id"], name=op.f("fk_extras_webhook_attempt_delivery_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_extras_webhook_attempt")),
    )
    with op.batch_alter_table("extras_webhook_attempt", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_extras_webhook_attempt_delivery_id"), ["delivery_id"], unique=False)


def downgrade() -> None:
    op.drop_table("extras_webhook_attempt")
    op.drop_table("extras_webhook_type")
    op.drop_table("extras_webhook_delivery")
    op.drop_table("extras_webhook")
