"""IKE and IPsec"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'vpn_0002'
down_revision = 'vpn_0001'


def upgrade() -> None:
    op.create_table('vpn_ike_policy',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('version', sa.Integer(), nullable=False),
    sa.Column('mode', column_types.Chars(50), nullable=False),
    sa.Column('preshared_key', column_types.LongText(), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_ike_policy')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_ike_policy_name'))
    )
    op.create_table('vpn_ike_proposal',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('authentication_method', column_types.Chars(50), nullable=False),
    sa.Column('encryption_algorithm', column_types.Chars(50), nullable=False),
    sa.Column('authentication_algorithm', column_types.Chars(50), nullable=False),
    sa.Column('group', sa.Integer(), nullable=False),
    sa.Column('sa_lifetime', sa.Integer(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_ike_proposal')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_ike_proposal_name'))
    )
    op.create_table('vpn_ipsec_policy',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('pfs_group', sa.Integer(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_ipsec_policy')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_ipsec_policy_name'))
    )
    op.create_table('vpn_ipsec_proposal',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('encryption_algorithm', column_types.Chars(50), nullable=False),
    sa.Column('authentication_algorithm', column_types.Chars(50), nullable=False),
    sa.Column('sa_lifetime_seconds', sa.Integer(), nullable=True),
    sa.Column('sa_lifetime_data', sa.Integer(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_ipsec_proposal')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_ipsec_proposal_name'))
    )
    op.create_table('vpn_ike_policy_proposal',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['vpn_ike_policy.id'], name=op.f('fk_vpn_ike_policy_proposal_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['vpn_ike_proposal.id'], name=op.f('fk_vpn_ike_policy_proposal_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_vpn_ike_policy_proposal'))
    )
    with op.batch_alter_table('vpn_ike_policy_proposal', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_ike_policy_proposal_target_id'), ['target_id'], unique=False)

    op.create_table('vpn_ipsec_policy_proposal',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['vpn_ipsec_policy.id'], name=op.f('fk_vpn_ipsec_policy_proposal_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['vpn_ipsec_proposal.id'], name=op.f('fk_vpn_ipsec_policy_proposal_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_vpn_ipsec_policy_proposal'))
    )
    with op.batch_alter_table('vpn_ipsec_policy_proposal', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_ipsec_policy_proposal_target_id'), ['target_id'], unique=False)

    op.create_table('vpn_ipsec_profile',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('mode', column_types.Chars(50), nullable=False),
    sa.Column('ike_policy_id', sa.Uuid(), nullable=False),
    sa.Column('ipsec_policy_id', sa.Uuid(), nullable=False),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['ike_policy_id'], ['vpn_ike_policy.id'], name=op.f('fk_vpn_ipsec_profile_ike_policy_id')),
    sa.ForeignKeyConstraint(['ipsec_policy_id'], ['vpn_ipsec_policy.id'], name=op.f('fk_vpn_ipsec_profile_ipsec_policy_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_vpn_ipsec_profile')),
    sa.UniqueConstraint('name', name=op.f('uq_vpn_ipsec_profile_name'))
    )
    with op.batch_alter_table('vpn_ipsec_profile', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_vpn_ipsec_profile_ike_policy_id'), ['ike_policy_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_vpn_ipsec_profile_ipsec_policy_id'), ['ipsec_policy_id'], unique=False)

    with op.batch_alter_table('vpn_tunnel', schema=None) as batch_op:
        batch_op.add_column(sa.Column('ipsec_profile_id', sa.Uuid(), nullable=True))
        batch_op.create_index(batch_op.f('ix_vpn_tunnel_ipsec_profile_id'), ['ipsec_profile_id'], unique=False)
        batch_op.create_foreign_key(batch_op.f('fk_vpn_tunnel_ipsec_profile_id'), 'vpn_ipsec_profile', ['ipsec_profile_id'], ['id'])



def downgrade() -> None:
    with op.batch_alter_table('vpn_tunnel', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_vpn_tunnel_ipsec_profile_id'), type_='foreignkey')
        batch_op.drop_index(batch_op.f('ix_vpn_tunnel_ipsec_profile_id'))
        batch_op.drop_column('ipsec_profile_id')

    op.drop_table('vpn_ipsec_profile')
    op.drop_table('vpn_ipsec_policy_proposal')
    op.drop_table('vpn_ike_policy_proposal')
    op.drop_table('vpn_ipsec_proposal')
    op.drop_table('vpn_ipsec_policy')
    op.drop_table('vpn_ike_proposal')
    op.drop_table('vpn_ike_policy')
