"""GraphQL queries"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0010'
down_revision = 'extras_0009'


def upgrade() -> None:
    op.create_table('extras_graphql_query',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('query', column_types.LongText(), nullable=False),
    sa.Column('variables', column_types.Json(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_graphql_query')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_graphql_query_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_graphql_query_slug'))
    )


def downgrade() -> None:
    op.drop_table('extras_graphql_query')
