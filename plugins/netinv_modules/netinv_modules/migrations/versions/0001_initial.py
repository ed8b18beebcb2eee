"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'modules_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('modules_module_type',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('manufacturer_id', sa.Uuid(), nullable=False),
    sa.Column('model', column_types.Chars(100), nullable=False),
    sa.Column('part_number', column_types.Chars(50), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['manufacturer_id'], ['dcim_manufacturer.id'], name=op.f('fk_modules_module_type_manufacturer_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_modules_module_type')),
    sa.UniqueConstraint('manufacturer_id', 'model', name=op.f('uq_modules_module_type_manufacturer_id_model'))
    )
    op.create_table('modules_module_bay_template',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('device_type_id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(64), nullable=False),
    sa.Column('name_key', column_types.Chars(255), nullable=False),
    sa.Column('label', column_types.Chars(64), nullable=False),
    sa.Column('position', column_types.Chars(30), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['device_type_id'], ['dcim_device_type.id'], name=op.f('fk_modules_module_bay_template_device_type_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_modules_module_bay_template')),
    sa.UniqueConstraint('device_type_id', 'name', name=op.f('uq_modules_module_bay_template_device_type_id_name'))
    )
    with op.batch_alter_table('modules_module_bay_template', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_modules_module_bay_template_name_key'), ['name_key'], unique=False)

    op.create_table('modules_module_bay',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('device_id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(64), nullable=False),
    sa.Column('name_key', column_types.Chars(255), nullable=False),
    sa.Column('label', column_types.Chars(64), nullable=False),
    sa.Column('position', column_types.Chars(30), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['device_id'], ['dcim_device.id'], name=op.f('fk_modules_module_bay_device_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_modules_module_bay')),
    sa.UniqueConstraint('device_id', 'name', name=op.f('uq_modules_module_bay_device_id_name'))
    )
    with op.batch_alter_table('modules_module_bay', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_modules_module_bay_name_key'), ['name_key'], unique=False)

    op.create_table('modules_module',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('device_id', sa.Uuid(), nullable=False),
    sa.Column('module_bay_id', sa.Uuid(), nullable=False),
    sa.Column('module_type_id', sa.Uuid(), nullable=False),
    sa.Column('status_id', sa.Uuid(), nullable=False),
    sa.Column('serial', column_types.Chars(255), nullable=False),
    sa.Column('asset_tag', column_types.Chars(100), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['device_id'], ['dcim_device.id'], name=op.f('fk_modules_module_device_id')),
    sa.ForeignKeyConstraint(['module_bay_id'], ['modules_module_bay.id'], name=op.f('fk_modules_module_module_bay_id')),
    sa.ForeignKeyConstraint(['module_type_id'], ['modules_module_type.id'], name=op.f('fk_modules_module_module_type_id')),
    sa.ForeignKeyConstraint(['status_id'], ['extras_status.id'], name=op.f('fk_modules_module_status_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_modules_module')),
    sa.UniqueConstraint('asset_tag', name=op.f('uq_modules_module_asset_tag')),
    sa.UniqueConstraint('module_bay_id', name=op.f('uq_modules_module_module_bay_id'))
    )
    with op.batch_alter_table('modules_module', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_modules_module_device_id'), ['device_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_modules_module_module_type_id'), ['module_type_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_modules_module_status_id'), ['status_id'], unique=False)



def downgrade() -> None:
    op.drop_table('modules_module')
    op.drop_table('modules_module_bay')
    op.drop_table('modules_module_bay_template')
    op.drop_table('modules_module_type')
