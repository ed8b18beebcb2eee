"""relationships"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0006'
down_revision = 'extras_0005'


def upgrade() -> None:
    op.create_table('extras_relationship',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('type', column_types.Chars(50), nullable=False),
    sa.Column('required_on', column_types.Chars(12), nullable=False),
    sa.Column('source_type', column_types.Chars(100), nullable=False),
    sa.Column('source_label', column_types.Chars(50), nullable=False),
    sa.Column('source_hidden', sa.Boolean(), nullable=False),
    sa.Column('source_filter', column_types.Json(), nullable=True),
    sa.Column('destination_type', column_types.Chars(100), nullable=False),
    sa.Column('destination_label', column_types.Chars(50), nullable=False),
    sa.Column('destination_hidden', sa.Boolean(), nullable=False),
    sa.Column('destination_filter', column_types.Json(), nullable=True),
    sa.Column('advanced_ui', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_relationship')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_relationship_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_relationship_slug'))
    )
    op.create_table('extras_association',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('relationship_id', sa.Uuid(), nullable=False),
    sa.Column('source_type', column_types.Chars(100), nullable=False),
    sa.Column('source_id', sa.Uuid(), nullable=False),
    sa.Column('destination_type', column_types.Chars(100), nullable=False),
    sa.Column('destination_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['relationship_id'], ['extras_relationship.id'], name=op.f('fk_extras_association_relationship_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_association')),
    sa.UniqueConstraint('relationship_id', 'source_id', 'destination_id', name=op.f('uq_extras_association_relationship_id_source_id_destination_id'))
    )
    with op.batch_alter_table('extras_association', schema=None) as batch_op:
        batch_op.create_index('ix_extras_association_destination', ['destination_id'], unique=False)
        batch_op.create_index('ix_extras_association_source', ['source_id'], unique=False)



def downgrade() -> None:
    op.drop_table('extras_association')
    op.drop_table('extras_relationship')
