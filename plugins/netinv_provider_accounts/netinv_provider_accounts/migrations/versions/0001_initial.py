"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'provider_accounts_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('provider_accounts_account',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('provider_id', sa.Uuid(), nullable=False),
    sa.Column('account', column_types.Chars(100), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['provider_id'], ['circuits_provider.id'], name=op.f('fk_provider_accounts_account_provider_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_provider_accounts_account')),
    sa.UniqueConstraint('provider_id', 'account', name=op.f('uq_provider_accounts_account_provider_id_account'))
    )
    op.create_table('provider_accounts_circuit',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['provider_accounts_account.id'], name=op.f('fk_provider_accounts_circuit_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['circuits_circuit.id'], name=op.f('fk_provider_accounts_circuit_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_provider_accounts_circuit'))
    )
    with op.batch_alter_table('provider_accounts_circuit', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_provider_accounts_circuit_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('provider_accounts_circuit')
    op.drop_table('provider_accounts_account')
