"""What was decided about sessions, what waits for the human, and what a human's answers stand for."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    _decisions()
    _escalations()
    _precedents()


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("host", sa.String(length=64), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("question_id", sa.String(length=64), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("follows", sa.String(length=64), nullable=True),
        sa.Column("actor", sa.String(length=100), nullable=False),
        sa.Column("coordinator", sa.Text(), nullable=False),
        sa.Column("action", sa.String(length=16), nullable=False),
        sa.Column("by", sa.String(length=32), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("categories", sa.JSON(), nullable=False),
        sa.Column("reasons", sa.JSON(), nullable=False),
        sa.Column("shadow", sa.Boolean(), nullable=False),
        sa.Column("prompt_id", sa.String(length=64), nullable=True),
        sa.Column("escalation_id", sa.String(length=64), nullable=True),
        sa.Column("question_hash", sa.String(length=64), nullable=False),
        sa.Column("text_hash", sa.String(length=64), nullable=False),
        sa.Column("pane", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("spent", sa.JSON(), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=op.f("fk_decisions_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_decisions")),
    )
    op.create_index(op.f("ix_decisions_host_seq"), "decisions", ["host", "seq"], unique=True)
    op.create_index(op.f("ix_decisions_session_id_at"), "decisions", ["session_id", "at"], unique=False)
    for column in ("question_id", "question_hash", "prompt_id"):
        op.create_index(op.f(f"ix_decisions_{column}"), "decisions", [column], unique=False)


def _escalations() -> None:
    op.create_table(
        "escalations",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("session_id", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("question_id", sa.String(length=64), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("categories", sa.JSON(), nullable=False),
        sa.Column("proposed", sa.Text(), nullable=False),
        sa.Column("confidence", sa.Float(), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=True),
        sa.Column("opened_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("news", sa.Integer(), nullable=False),
        sa.Column("notified_at", sa.BigInteger(), nullable=True),
        sa.Column("closed_at", sa.BigInteger(), nullable=True),
        sa.Column("closed_by", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["session_id"], ["sessions.id"], name=op.f("fk_escalations_session_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_escalations")),
    )
    for columns in (["closed_at", "opened_at"], ["session_id", "closed_at"], ["question_id"]):
        op.create_index(op.f(f"ix_escalations_{'_'.join(columns)}"), "escalations", columns, unique=False)


def _precedents() -> None:
    op.create_table(
        "precedents",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("project_id", sa.String(length=64), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("options", sa.JSON(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("decision_id", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("uses", sa.Integer(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.Column("forgotten_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_precedents_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_precedents")),
    )
    op.create_index(
        op.f("ix_precedents_project_id_fingerprint"),
        "precedents",
        ["project_id", "fingerprint"],
        unique=False,
    )
