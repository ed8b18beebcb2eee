"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'rack_types_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('rack_types_type',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('manufacturer_id', sa.Uuid(), nullable=False),
    sa.Column('model', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('form_factor', column_types.Chars(50), nullable=False),
    sa.Column('width', sa.Integer(), nullable=False),
    sa.Column('u_height', sa.Integer(), nullable=False),
    sa.Column('starting_unit', sa.Integer(), nullable=False),
    sa.Column('desc_units', sa.Boolean(), nullable=False),
    sa.Column('outer_width', sa.Integer(), nullable=True),
    sa.Column('outer_depth', sa.Integer(), nullable=True),
    sa.Column('outer_unit', column_types.Chars(50), nullable=False),
    sa.Column('mounting_depth', sa.Integer(), nullable=True),
    sa.Column('weight', sa.Numeric(precision=8, scale=2), nullable=True),
    sa.Column('max_weight', sa.Integer(), nullable=True),
    sa.Column('weight_unit', column_types.Chars(50), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['manufacturer_id'], ['dcim_manufacturer.id'], name=op.f('fk_rack_types_type_manufacturer_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_rack_types_type')),
    sa.UniqueConstraint('manufacturer_id', 'model', name=op.f('uq_rack_types_type_manufacturer_id_model')),
    sa.UniqueConstraint('slug', name=op.f('uq_rack_types_type_slug'))
    )
    op.create_table('rack_types_rack',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['dcim_rack.id'], name=op.f('fk_rack_types_rack_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['rack_types_type.id'], name=op.f('fk_rack_types_rack_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_rack_types_rack')),
    sa.UniqueConstraint('owner_id', name=op.f('uq_rack_types_rack_owner_id'))
    )
    with op.batch_alter_table('rack_types_rack', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_rack_types_rack_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('rack_types_rack')
    op.drop_table('rack_types_type')
