"""dynamic groups"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0011'
down_revision = 'extras_0010'


def upgrade() -> None:
    op.create_table('extras_dynamic_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('content_type', column_types.Chars(100), nullable=False),
    sa.Column('filter', column_types.Json(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_dynamic_group')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_dynamic_group_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_dynamic_group_slug'))
    )
    with op.batch_alter_table('extras_dynamic_group', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_dynamic_group_content_type'), ['content_type'], unique=False)

    op.create_table('extras_dynamic_group_membership',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('group_id', sa.Uuid(), nullable=False),
    sa.Column('parent_group_id', sa.Uuid(), nullable=False),
    sa.Column('operator', column_types.Chars(12), nullable=False),
    sa.Column('weight', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['group_id'], ['extras_dynamic_group.id'], name=op.f('fk_extras_dynamic_group_membership_group_id')),
    sa.ForeignKeyConstraint(['parent_group_id'], ['extras_dynamic_group.id'], name=op.f('fk_extras_dynamic_group_membership_parent_group_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_dynamic_group_membership')),
    sa.UniqueConstraint('group_id', 'parent_group_id', 'operator', 'weight', name=op.f('uq_extras_dynamic_group_membership_group_id_parent_group_id_operator_weight'))
    )
    with op.batch_alter_table('extras_dynamic_group_membership', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_dynamic_group_membership_group_id'), ['group_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_dynamic_group_membership_parent_group_id'), ['parent_group_id'], unique=False)



def downgrade() -> None:
    op.drop_table('extras_dynamic_group_membership')
    op.drop_table('extras_dynamic_group')
