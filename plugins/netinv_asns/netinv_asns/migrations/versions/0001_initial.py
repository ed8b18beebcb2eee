"""initial"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from netinv_core.models import types as column_types

revision = 'asns_0001'
down_revision = None


def upgrade() -> None:
    op.create_table('asns_asn',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('asn', sa.BigInteger(), nullable=False),
    sa.Column('rir_id', sa.Uuid(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('comments', column_types.LongText(), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['rir_id'], ['ipam_rir.id'], name=op.f('fk_asns_asn_rir_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_asns_asn_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_asns_asn')),
    sa.UniqueConstraint('asn', name=op.f('uq_asns_asn_asn'))
    )
    with op.batch_alter_table('asns_asn', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_asns_asn_rir_id'), ['rir_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_asns_asn_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('asns_asn_range',
    sa.Column('id', sa.Uuid(), nullable=False),
    sa.Column('name', column_types.Chars(100), nullable=False),
    sa.Column('slug', column_types.Chars(100), nullable=False),
    sa.Column('rir_id', sa.Uuid(), nullable=False),
    sa.Column('start', sa.BigInteger(), nullable=False),
    sa.Column('end', sa.BigInteger(), nullable=False),
    sa.Column('tenant_id', sa.Uuid(), nullable=True),
    sa.Column('description', column_types.Chars(200), nullable=False),
    sa.Column('created', sa.Date(), nullable=False),
    sa.Column('last_updated', column_types.Timestamp(), nullable=False),
    sa.Column('custom_field_data', column_types.Json(), nullable=False),
    sa.ForeignKeyConstraint(['rir_id'], ['ipam_rir.id'], name=op.f('fk_asns_asn_range_rir_id')),
    sa.ForeignKeyConstraint(['tenant_id'], ['tenancy_tenant.id'], name=op.f('fk_asns_asn_range_tenant_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_asns_asn_range')),
    sa.UniqueConstraint('name', name=op.f('uq_asns_asn_range_name')),
    sa.UniqueConstraint('slug', name=op.f('uq_asns_asn_range_slug'))
    )
    with op.batch_alter_table('asns_asn_range', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_asns_asn_range_rir_id'), ['rir_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_asns_asn_range_tenant_id'), ['tenant_id'], unique=False)

    op.create_table('asns_asn_provider',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['asns_asn.id'], name=op.f('fk_asns_asn_provider_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['circuits_provider.id'], name=op.f('fk_asns_asn_provider_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_asns_asn_provider'))
    )
    with op.batch_alter_table('asns_asn_provider', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_asns_asn_provider_target_id'), ['target_id'], unique=False)

    op.create_table('asns_asn_site',
    sa.Column('owner_id', sa.Uuid(), nullable=False),
    sa.Column('target_id', sa.Uuid(), nullable=False),
    sa.ForeignKeyConstraint(['owner_id'], ['asns_asn.id'], name=op.f('fk_asns_asn_site_owner_id'), ondelete='CASCADE'),
    sa.ForeignKeyConstraint(['target_id'], ['dcim_site.id'], name=op.f('fk_asns_asn_site_target_id'), ondelete='CASCADE'),
    sa.PrimaryKeyConstraint('owner_id', 'target_id', name=op.f('pk_asns_asn_site'))
    )
    with op.batch_alter_table('asns_asn_site', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_asns_asn_site_target_id'), ['target_id'], unique=False)



def downgrade() -> None:
    op.drop_table('asns_asn_site')
    op.drop_table('asns_asn_provider')
    op.drop_table('asns_asn_range')
    op.drop_table('asns_asn')
