"""The tables. They run unchanged on SQLite and on PostgreSQL; `migrations/` brings older databases here."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    false,
)

# Oldest first; the last is what this program writes.
REVISIONS = ("0001", "0002", "0003", "0004")

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_ID = String(64)

projects = Table(
    "projects",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("directory", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # A removed project keeps its rows: events and sessions go on to name it.
    Column("removed_at", BigInteger),
)

tasks = Table(
    "tasks",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("project_id", _ID, ForeignKey("projects.id"), nullable=False),
    Column("title", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("parent_id", _ID, ForeignKey("tasks.id")),
    Column("depends_on", JSON, nullable=False),
    Column("assignee", String(200)),
    Column("priority", String(16), nullable=False),
    Column("status", String(16), nullable=False),
    Column("blocked_reason", Text),
    Column("last_report", Text),
    Column("created_by", _ID),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("ended_at", BigInteger),
    Index(None, "project_id", "status"),
    Index(None, "parent_id"),
    Index(None, "created_by"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("project_id", _ID, ForeignKey("projects.id"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("role", String(16), nullable=False),
    Column("agent", String(100), nullable=False),
    Column("status", String(16), nullable=False),
    Column("parent_session_id", _ID, ForeignKey("sessions.id")),
    Column("cwd", Text, nullable=False),
    Column("host", _ID, nullable=False),
    Column("model", Text),
    Column("mode", Text),
    Column("network", Boolean, nullable=False, server_default=false()),
    Column("transcript_id", Text),
    Column("transcript_path", Text),
    Column("environment", JSON, nullable=False),
    Column("place", JSON(none_as_null=True)),
    Column("worktree", JSON(none_as_null=True)),
    Column("pid", Integer),
    Column("pid_started", BigInteger),
    Column("boot_id", String(64)),
    Column("last_report", Text),
    Column("token_hash", String(64)),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("ended_at", BigInteger),
    Index(None, "parent_session_id"),
    Index(None, "project_id", "status"),
    Index(None, "token_hash"),
)

session_tasks = Table(
    "session_tasks",
    metadata,
    Column("session_id", _ID, ForeignKey("sessions.id"), nullable=False),
    Column("task_id", _ID, ForeignKey("tasks.id"), nullable=False),
    PrimaryKeyConstraint("session_id", "task_id"),
    Index(None, "task_id"),
)

events = Table(
    "events",
    metadata,
    Column("host", _ID, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(64), nullable=False),
    Column("project_id", _ID),
    Column("subject_id", _ID, nullable=False),
    Column("session_id", _ID),
    Column("role", String(16), nullable=False),
    Column("data", JSON, nullable=False),
    PrimaryKeyConstraint("host", "seq"),
    Index(None, "subject_id"),
)

questions = Table(
    "questions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("session_id", _ID, ForeignKey("sessions.id"), nullable=False),
    Column("version", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("text", Text, nullable=False),
    # The whole of it, as `agents/questions.py` has it.
    Column("asked", JSON, nullable=False),
    # Who saw it first: the agent's own hook, or we on its screen.
    Column("source", String(16), nullable=False),
    Column("call_id", Text, nullable=False),
    Column("opened_at", BigInteger, nullable=False),
    Column("closed_at", BigInteger),
    Column("closed_by", Text, nullable=False),
    Index(None, "session_id", "closed_at"),
)

prompts = Table(
    "prompts",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("session_id", _ID, ForeignKey("sessions.id"), nullable=False),
    Column("host", _ID, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("state", String(16), nullable=False),
    # Exactly what will be typed; when nothing is left to type, only what may be shown of it.
    Column("text", Text, nullable=False),
    Column("sender", _ID),
    Column("question_id", _ID, ForeignKey("questions.id")),
    Column("answer", JSON(none_as_null=True)),
    Column("reason", Text, nullable=False),
    Column("evidence", JSON, nullable=False),
    # How long the transcript was before anything was typed: proof lies behind that.
    Column("transcript_size", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("typed_at", BigInteger),
    Column("settled_at", BigInteger),
    Index(None, "session_id", "state"),
    Index(None, "host", "state"),
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("host", _ID, nullable=False),
    Column("seq", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("session_id", _ID, ForeignKey("sessions.id"), nullable=False),
    Column("question_id", _ID),
    Column("version", Integer),
    Column("follows", _ID),
    Column("actor", String(100), nullable=False),
    Column("coordinator", Text, nullable=False),
    Column("action", String(16), nullable=False),
    Column("by", String(32), nullable=False),
    Column("text", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("categories", JSON, nullable=False),
    Column("reasons", JSON, nullable=False),
    Column("shadow", Boolean, nullable=False),
    Column("prompt_id", _ID),
    Column("escalation_id", _ID),
    Column("question_hash", String(64), nullable=False),
    Column("text_hash", String(64), nullable=False),
    Column("pane", JSON(none_as_null=True)),
    Column("spent", JSON, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
    Index(None, "host", "seq", unique=True),
    Index(None, "session_id", "at"),
    Index(None, "question_id"),
    Index(None, "question_hash"),
    Index(None, "prompt_id"),
)

escalations = Table(
    "escalations",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("session_id", _ID, ForeignKey("sessions.id"), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("subject", Text, nullable=False),
    Column("question_id", _ID),
    Column("version", Integer),
    Column("text", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("categories", JSON, nullable=False),
    Column("proposed", Text, nullable=False),
    Column("confidence", Float, nullable=False),
    Column("decision_id", _ID),
    Column("opened_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("news", Integer, nullable=False),
    Column("notified_at", BigInteger),
    Column("closed_at", BigInteger),
    Column("closed_by", Text, nullable=False),
    Index(None, "closed_at", "opened_at"),
    Index(None, "session_id", "closed_at"),
    Index(None, "question_id"),
)

precedents = Table(
    "precedents",
    metadata,
    Column("id", _ID, primary_key=True),
    Column("project_id", _ID, ForeignKey("projects.id"), nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("question", Text, nullable=False),
    Column("options", JSON, nullable=False),
    Column("answer", Text, nullable=False),
    Column("decision_id", _ID),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("answers", Integer, nullable=False),
    Column("uses", Integer, nullable=False),
    Column("used_at", BigInteger),
    Column("forgotten_at", BigInteger),
    Index(None, "project_id", "fingerprint"),
)

# What was answered to a request with an idempotency key, so that a repeated one is answered, not done again.
answers = Table(
    "answers",
    metadata,
    Column("key", String(200), primary_key=True),
    Column("request", String(64), nullable=False),
    Column("subject_id", _ID, nullable=False),
    Column("at", BigInteger, nullable=False),
    Index(None, "at"),
)
