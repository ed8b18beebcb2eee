"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'contacts_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('contacts_contact',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('title', column_types.Chars(100), nullable=False),
    sa.Column('phone', column_types.Chars(50), nullable=False),
    sa.Column('email', column_types.Chars(254), nullable=False),
    sa.Column('address', column_types.Chars(200), nullable=False),
    sa.Column('link', column_types.Chars(200), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_contacts_contact'))
    )
    op.create_table('contacts_contact_group',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('parent_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.Column('tree_key', column_types.LongText(), nullable=False),
    sa.Column('tree_names', column_types.Json(), nullable=False),
    sa.Column('tree_level', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['parent_id'], ['contacts_contact_group.id'], name=op.f('fk_contacts_contact_group_parent_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_contacts_contact_group')),
    sa.UniqueConstraint('name', name=op.f('uq_contacts_contact_group_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_contacts_contact_group_slug'))
    )
    with op.batch_alter_table('contacts_contact_group', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_contacts_contact_group_parent_id'), ['parent_id'], unique=False)

    op.create_table('contacts_contact_role',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_contacts_contact_role')),
    sa.UniqueConstraint('name', name=op.f('uq_contacts_contact_role_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_contacts_contact_role_slug'))
    )
    op.create_table('contacts_contact_assignment',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('object_type', column_types.Chars(100), nullable=False),
    sa.Column('object_id', sa.Uuid(), nullable=False),
    sa.Column('contact_id', sa.Uuid(), nullable=False),
    sa.Column('role_id', sa.Uuid(), nullable=False),
    sa.Column('priority', column_types.Chars(50), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['contact_id'], ['contacts_contact.id'], name=op.f('fk_contacts_contact_assignment_contact_id')),
    sa.ForeignKeyConstraint(['role_id'], ['contacts_contact_role.id'], name=op.f('fk_contacts_contact_assignment_role_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_contacts_contact_assignment')),
    sa.UniqueConstraint('object_id', 'object_type', 'contact_id', 'role_id', name=op.f('uq_contacts_contact_assignment_object_id_object_type_contact_id_role_id'))
    )
    with op.batch_alter_table('contacts_contact_assignment', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_contacts_contact_assignment_contact_id'), ['contact_id'], unique=False)
        batch_op.create_index('ix_contacts_contact_assignment_object', ['object_id', 'object_type'], unique=False)
        batch_op.create_index(batch_op.f('ix_contacts_contact_assignment_role_id'), ['role_id'], unique=False)

    op.create_table('contacts_contact_groups',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['contacts_contact.id'], name=op.f('fk_contacts_contact_groups_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['contacts_contact_group.id'], name=op.f('fk_contacts_contact_groups_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_contacts_contact_groups'))
    )
    with op.batch_alter_table('contacts_contact_groups', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_contacts_contact_groups_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('contacts_contact_groups')
    op.drop_table('contacts_contact_assignment')
    op.drop_table('contacts_contact_role')
    op.drop_table('contacts_contact_group')
    op.drop_table('contacts_contact')
