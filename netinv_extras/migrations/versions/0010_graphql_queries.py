"""GraphQL queries"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core import columns

revision = 'extras_0010'
down_revision = 'extras_0009'


def upgrade() -> None:
    op.create_table('extras_graphql_query',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', columns.Chars(100), nullable=False),
    sa.Column('slug', columns.Chars(100), nullable=False),
    sa.Column('query', columns.LongText(), nullable=False),
    sa.Column('variables', columns.Json(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', columns.Timestamp(), nullable=False),
    sa.Column('custom_field_data', columns.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_graphql_query')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_graphql_query_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_graphql_query_slug'))
    )


def downgrade() -> None:
    op.drop_table('extras_graphql_query')
