"""Whether a person opened the network to a session's commands."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("network", sa.Boolean(), nullable=False, server_default=sa.false()))
