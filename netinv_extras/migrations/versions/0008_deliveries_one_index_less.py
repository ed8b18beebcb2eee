"""deliveries: one index less"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'extras_0008'
down_revision = 'extras_0007'


def upgrade() -> None:
    with op.batch_alter_table('extras_webhook_delivery', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_extras_webhook_delivery_webhook_id'))



def downgrade() -> None:
    with op.batch_alter_table('extras_webhook_delivery', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_extras_webhook_delivery_webhook_id'), ['webhook_id'], unique=False)

