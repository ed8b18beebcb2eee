"""computed fields"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0007'
down_revision = 'extras_0006'


def upgrade() -> None:
    op.create_table('extras_computed_field',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('label', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('content_type', column_types.Chars(100), nullable=False),
    sa.Column('template', column_types.Chars(500), nullable=False),
    sa.Column('fallback_value', column_types.Chars(500), nullable=False),
    sa.Column('weight', sa.Integer(), nullable=False),
    sa.Column('advanced_ui', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_computed_field')),
    sa.UniqueConstraint('content_type', 'label', name=op.f('uq_extras_computed_field_content_type_label')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_computed_field_slug'))
    )


def downgrade() -> None:
    op.drop_table('extras_computed_field')
