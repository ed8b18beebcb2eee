"""jobs"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0013'
down_revision = 'extras_0012'


def upgrade() -> None:
    op.create_table('extras_job',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('source', column_types.Chars(16), nullable=False),
    sa.Column('module_name', column_types.Chars(100), nullable=False),
    sa.Column('job_class_name', column_types.Chars(100), nullable=False),
    sa.Column('grouping', column_types.Chars(255), nullable=False),
    sa.Column('grouping_override', sa.Boolean(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('name_override', sa.Boolean(), nullable=False),
    sa.Column('slug', column_types.Chars(320), nullable=False),
    sa.Column('description', column_types.LongText(), nullable=False),
    sa.Column('description_override', sa.Boolean(), nullable=False),
    sa.Column('installed', sa.Boolean(), nullable=False),
    sa.Column('enabled', sa.Boolean(), nullable=False),
    sa.Column('is_job_hook_receiver', sa.Boolean(), nullable=False),
    sa.Column('is_job_button_receiver', sa.Boolean(), nullable=False),
    sa.Column('has_sensitive_variables', sa.Boolean(), nullable=False),
    sa.Column('has_sensitive_variables_override', sa.Boolean(), nullable=False),
    sa.Column('approval_required', sa.Boolean(), nullable=False),
    sa.Column('approval_required_override', sa.Boolean(), nullable=False),
    sa.Column('commit_default', sa.Boolean(), nullable=False),
    sa.Column('commit_default_override', sa.Boolean(), nullable=False),
    sa.Column('hidden', sa.Boolean(), nullable=False),
    sa.Column('hidden_override', sa.Boolean(), nullable=False),
    sa.Column('read_only', sa.Boolean(), nullable=False),
    sa.Column('read_only_override', sa.Boolean(), nullable=False),
    sa.Column('soft_time_limit', sa.Float(), nullable=False),
    sa.Column('soft_time_limit_override', sa.Boolean(), nullable=False),
    sa.Column('time_limit', sa.Float(), nullable=False),
    sa.Column('time_limit_override', sa.Boolean(), nullable=False),
    sa.Column('task_queues', column_types.Json(), nullable=False),
    sa.Column('task_queues_override', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_job')),
    sa.UniqueConstraint('grouping', 'name', name=op.f('uq_extras_job_grouping_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_job_slug')),
    sa.UniqueConstraint('source', 'module_name', 'job_class_name', name=op.f('uq_extras_job_source_module_name_job_class_name'))
    )
    op.create_table('extras_job_button',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('job_id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('text', column_types.Chars(500), nullable=False),
    sa.Column('weight', sa.Integer(), nullable=False),
    sa.Column('group_name', column_types.Chars(50), nullable=False),
    sa.Column('button_class', column_types.Chars(30), nullable=False),
    sa.Column('confirmation', sa.Boolean(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['job_id'], ['extras_job.id'], name=op.f('fk_extras_job_button_job_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_job_button')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_job_button_name'))
    )
    with op.batch_alter_table('extras_job_button', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_button_job_id'), ['job_id'], unique=False)

    op.create_table('extras_job_hook',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('job_id', sa.Uuid(), nullable=False),
    sa.Column('enabled', sa.Boolean(), nullable=False),
    sa.Column('type_create', sa.Boolean(), nullable=False),
    sa.Column('type_update', sa.Boolean(), nullable=False),
    sa.Column('type_delete', sa.Boolean(), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['job_id'], ['extras_job.id'], name=op.f('fk_extras_job_hook_job_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_job_hook')),
    sa.UniqueConstraint('name', name=op.f('uq_extras_job_hook_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_extras_job_hook_slug'))
    )
    with op.batch_alter_table('extras_job_hook', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_hook_job_id'), ['job_id'], unique=False)

    op.create_table('extras_scheduled_job',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(200), nullable=False),
    sa.Column('user_id', sa.Uuid(), nullable=True),
    sa.Column('job_model_id', sa.Uuid(), nullable=True),
    sa.Column('task', column_types.Chars(200), nullable=False),
    sa.Column('interval', column_types.Chars(255), nullable=False),
    sa.Column('queue', column_types.Chars(200), nullable=True),
    sa.Column('job_class', column_types.Chars(255), nullable=False),
    sa.Column('last_run_at', column_types.Timestamp(), nullable=True),
    sa.Column('total_run_count', sa.Integer(), nullable=False),
    sa.Column('date_changed', column_types.Timestamp(), nullable=False),
    sa.Column('description', column_types.LongText(), nullable=False),
    sa.Column('approved_by_user_id', sa.Uuid(), nullable=True),
    sa.Column('approval_required', sa.Boolean(), nullable=False),
    sa.Column('approved_at', column_types.Timestamp(), nullable=True),
    sa.Column('crontab', column_types.Chars(255), nullable=False),
    sa.Column('kwargs', column_types.Json(), nullable=False),
    sa.Column('start_time', column_types.Timestamp(), nullable=False),
    sa.Column('next_run', column_types.Timestamp(), nullable=True),
    sa.ForeignKeyConstraint(['approved_by_user_id'], ['core_user.id'], name=op.f('fk_extras_scheduled_job_approved_by_user_id')),
    sa.ForeignKeyConstraint(['job_model_id'], ['extras_job.id'], name=op.f('fk_extras_scheduled_job_job_model_id')),
    sa.ForeignKeyConstraint(['user_id'], ['core_user.id'], name=op.f('fk_extras_scheduled_job_user_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_scheduled_job'))
    )
    with op.batch_alter_table('extras_scheduled_job', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_scheduled_job_approved_by_user_id'), ['approved_by_user_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_scheduled_job_job_model_id'), ['job_model_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_scheduled_job_next_run'), ['next_run'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_scheduled_job_user_id'), ['user_id'], unique=False)

    op.create_table('extras_job_button_type',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('label', column_types.Chars(100), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['extras_job_button.id'], name=op.f('fk_extras_job_button_type_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'label', name=op.f('pk_extras_job_button_type'))
    )
    with op.batch_alter_table('extras_job_button_type', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_button_type_label'), ['label'], unique=False)

    op.create_table('extras_job_hook_type',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('label', column_types.Chars(100), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['extras_job_hook.id'], name=op.f('fk_extras_job_hook_type_owner_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'label', name=op.f('pk_extras_job_hook_type'))
    )
    with op.batch_alter_table('extras_job_hook_type', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_hook_type_label'), ['label'], unique=False)

    op.create_table('extras_job_result',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('created', column_types.Timestamp(), nullable=False),
    sa.Column('completed', column_types.Timestamp(), nullable=True),
    sa.Column('name', column_types.Chars(255), nullable=False),
    sa.Column('job_model_id', sa.Uuid(), nullable=True),
    sa.Column('obj_type', column_types.Chars(100), nullable=False),
    sa.Column('status', column_types.Chars(30), nullable=False),
    sa.Column('user_id', sa.Uuid(), nullable=True),
    sa.Column('data', column_types.Json(), nullable=True),
    sa.Column('job_id', sa.Uuid(), nullable=False),
    sa.Column('job_kwargs', column_types.Json(), nullable=True),
    sa.Column('schedule_id', sa.Uuid(), nullable=True),
    sa.Column('arguments', column_types.LongText(), nullable=False),
    sa.Column('claimed_by', sa.Uuid(), nullable=True),
    sa.Column('claimed_until', column_types.Timestamp(), nullable=True),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['job_model_id'], ['extras_job.id'], name=op.f('fk_extras_job_result_job_model_id')),
    sa.ForeignKeyConstraint(['schedule_id'], ['extras_scheduled_job.id'], name=op.f('fk_extras_job_result_schedule_id')),
    sa.ForeignKeyConstraint(['user_id'], ['core_user.id'], name=op.f('fk_extras_job_result_user_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_job_result')),
    sa.UniqueConstraint('job_id', name=op.f('uq_extras_job_result_job_id'))
    )
    with op.batch_alter_table('extras_job_result', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_result_job_model_id'), ['job_model_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_job_result_name'), ['name'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_job_result_obj_type'), ['obj_type'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_job_result_schedule_id'), ['schedule_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_extras_job_result_user_id'), ['user_id'], unique=False)
        batch_op.create_index('ix_extras_job_result_order', ['created', 'id'], unique=False)
        batch_op.create_index('ix_extras_job_result_waiting', ['status', 'created'], unique=False)

    op.create_table('extras_job_log_entry',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('absolute_url', column_types.Chars(255), nullable=True),
    sa.Column('created', column_types.Timestamp(), nullable=False),
    sa.Column('grouping', column_types.Chars(100), nullable=False),
    sa.Column('job_result_id', sa.Uuid(), nullable=False),
    sa.Column('log_level', column_types.Chars(32), nullable=False),
    sa.Column('log_object', column_types.Chars(200), nullable=True),
    sa.Column('message', column_types.LongText(), nullable=False),
    sa.Column('position', sa.Integer(), nullable=False),
    sa.ForeignKeyConstraint(['job_result_id'], ['extras_job_result.id'], name=op.f('fk_extras_job_log_entry_job_result_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_extras_job_log_entry'))
    )
    with op.batch_alter_table('extras_job_log_entry', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_job_log_entry_job_result_id'), ['job_result_id'], unique=False)
        batch_op.create_index('ix_extras_job_log_entry_order', ['created', 'position', 'id'], unique=False)



def downgrade() -> None:
    op.drop_table('extras_job_log_entry')
    op.drop_table('extras_job_result')
    op.drop_table('extras_job_hook_type')
    op.drop_table('extras_job_button_type')
    op.drop_table('extras_scheduled_job')
    op.drop_table('extras_job_hook')
    op.drop_table('extras_job_button')
    op.drop_table('extras_job')
