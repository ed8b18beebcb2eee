"""jobs from git"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'extras_0014'
down_revision = 'extras_0013'


def upgrade() -> None:
    op.create_table('extras_git_job_module',
    sa.Column('repository_id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('digest', column_types.Chars(64), nullable=False),
    sa.Column('code', column_types.LongText(), nullable=False),
    sa.ForeignKeyConstraint(['repository_id'], ['extras_git_repository.id'], name=op.f('fk_extras_git_job_module_repository_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('repository_id', 'name', name=op.f('pk_extras_git_job_module'))
    )
    with op.batch_alter_table('extras_job', schema=None) as batch_op:
        batch_op.add_column(sa.Column('git_repository_id', sa.Uuid(), nullable=True))
        batch_op.add_column(sa.Column('path', column_types.Chars(320), server_default='', nullable=False))
        batch_op.drop_constraint(batch_op.f('uq_extras_job_source_module_name_job_class_name'), type_='unique')
        batch_op.create_index(batch_op.f('ix_extras_job_git_repository_id'), ['git_repository_id'], unique=False)
        batch_op.create_unique_constraint(batch_op.f('uq_extras_job_class'), ['source', 'git_repository_id', 'module_name', 'job_class_name'])
        batch_op.create_foreign_key(batch_op.f('fk_extras_job_git_repository_id'), 'extras_git_repository', ['git_repository_id'], ['id'])

    job = sa.table('extras_job', *(sa.column(name, sa.String()) for name in ('path', 'source', 'module_name', 'job_class_name')))
    op.execute(sa.update(job).values(path=job.c.source + '/' + job.c.module_name + '/' + job.c.job_class_name))


def downgrade() -> None:
    with op.batch_alter_table('extras_job', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_extras_job_git_repository_id'), type_='foreignkey')
        batch_op.drop_constraint(batch_op.f('uq_extras_job_class'), type_='unique')
        batch_op.drop_index(batch_op.f('ix_extras_job_git_repository_id'))
        batch_op.create_unique_constraint(batch_op.f('uq_extras_job_source_module_name_job_class_name'), ['source', 'module_name', 'job_class_name'])
        batch_op.drop_column('path')
        batch_op.drop_column('git_repository_id')

    op.drop_table('extras_git_job_module')
