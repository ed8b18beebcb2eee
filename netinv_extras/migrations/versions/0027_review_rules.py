"""review rules"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0027'
down_revision = 'extras_0026'


def upgrade() -> None:
    op.create_table('extras_review_rule',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('enabled', sa.Boolean(), nullable=False),
    sa.Column('constraints', column_types.Json(), nullable=True),
    sa.Column('field_names', column_types.Json(), nullable=True),
    sa.Column('approvals', sa.Integer(), nullable=False),
    sa.Column('limited', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_review_rule')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_review_rule_name'))
    )
    op.create_table('extras_review_rule_group',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['extras_review_rule.id'], name=op.f('fk_extras_review_rule_group_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['core_group.id'], name=op.f('fk_extras_review_rule_group_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_extras_review_rule_group'))
    )
    with op.batch_alter_table('extras_review_rule_group', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_review_rule_group_target_id'), ['target_id'], unique=False)

    op.create_table('extras_review_rule_type',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('label', column_types.Chars(100), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['extras_review_rule.id'], name=op.f('fk_extras_review_rule_type_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'label', name=op.f('pk_extras_review_rule_type'))
    )
    with op.batch_alter_table('extras_review_rule_type', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_review_rule_type_label'), ['label'], unique=False)

    op.create_table('extras_required_review',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('change_request_id', sa.Uuid(), nullable=False),
    sa.Column('rule_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['change_request_id'], ['extras_change_request.id'], name=op.f('fk_extras_required_review_change_request_id')),
    sa.ForeignKeyConstraint(['rule_id'], ['extras_review_rule.id'], name=op.f('fk_extras_required_review_rule_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_required_review')),
    sa.UniqueConstraint('change_request_id', 'rule_id', name=op.f('uq_extras_required_review_change_request_id_rule_id'))
    )
    with op.batch_alter_table('extras_required_review', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_required_review_rule_id'), ['rule_id'], unique=False)



def downgrade() -> None:
    op.drop_table('extras_required_review')
    op.drop_table('extras_review_rule_type')
    op.drop_table('extras_review_rule_group')
    op.drop_table('extras_review_rule')
