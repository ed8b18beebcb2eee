"""computed fields"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core import columns

revision = 'extras_0007'
down_revision = 'extras_0006'


def upgrade() -> None:
    op.create_table('extras_computed_field',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('slug', columns.Chars(100), nullable=False),
    sa.Column('label', columns.Chars(100), nullable=False),
    sa.Column('description', columns.Chars(200), nullable=False),
    sa.Column('content_type', columns.Chars(100), nullable=False),
    sa.Column('template', columns.Chars(500), nullable=False),
    sa.Column('fallback_value', columns.Chars(500), nullable=False),
    sa.Column('weight', sa.Integer(), nullable=False),
    sa.Column('advanced_ui', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', columns.Timestamp(), nullable=False),
    sa.Column('custom_field_data', columns.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_computed_field')),
    sa.UniqueConstraint('content_type', 'label', name=op.f('uq_extras_computed_field_content_type_label')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_computed_field_slug'))
    )


def downgrade() -> None:
    op.drop_table('extras_computed_field')
