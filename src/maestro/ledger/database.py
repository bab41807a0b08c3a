"""Opens the database: SQLite in MAESTRO_HOME, or PostgreSQL by URL. Creates it, brings an older one up to
date, refuses a newer one, and tells what went wrong in our own errors."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, SQLAlchemyError

from maestro.errors import (
    DiskFull,
    InvalidInput,
    LedgerError,
    LedgerNewer,
    LedgerUnreadable,
    MaestroError,
    NoPermission,
)
from maestro.ledger.schema import REVISIONS, metadata

_alembic_version = sa.Table(
    "alembic_version", sa.MetaData(), sa.Column("version_num", sa.String(32), primary_key=True)
)

_CREATE = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_FULL = ("disk is full", "no space left", os.strerror(errno.EDQUOT).lower())
_LEAST_ROOM = 128 << 10  # bytes, for SQLite's index of a write-ahead log and a few pages


def open_database(url: str) -> Engine:
    """An engine on an up-to-date ledger."""
    try:
        engine = _engine(url)
    except (SQLAlchemyError, ModuleNotFoundError, ValueError) as error:
        raise InvalidInput(
            f"MAESTRO_DATABASE_URL cannot be used: {error}.",
            hint="Use postgresql+psycopg://user@host/name and install maestro-coordinator[scale].",
        ) from error
    try:
        with translated(engine):
            _bring_up_to_date(engine)
    except BaseException:
        engine.dispose()
        raise
    return engine


def sqlite_url(path: str) -> str:
    return f"sqlite+pysqlite:///{path}"


def _engine(url: str) -> Engine:
    made = sa.make_url(url)
    if made.get_backend_name() != "sqlite":
        # A database that was made without a locale tells no encoding, and then texts would come as bytes.
        if "client_encoding" not in made.query:
            made = made.update_query_dict({"client_encoding": "utf8"})
        return sa.create_engine(made, pool_size=8, max_overflow=32, pool_pre_ping=True)
    # One file, closed to others from its first byte on.
    if made.database and not os.path.exists(made.database):
        os.close(_create_private(made.database))
    engine = sa.create_engine(made, pool_size=8, max_overflow=32, connect_args={"timeout": 10})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _record: Any) -> None:
        # SQLAlchemy begins transactions below; the driver must not begin its own.
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("maestro_write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _create_private(path: str) -> int:
    try:
        return os.open(path, _CREATE, 0o600)
    except OSError as error:
        raise _not_creatable(path, error) from error


def _not_creatable(path: str, error: OSError) -> NoPermission:
    return NoPermission(
        f"The database {path} cannot be created: {error.strerror}.",
        hint="Check the folder's owner and mode, or set MAESTRO_HOME to another folder.",
    )


def _bring_up_to_date(engine: Engine) -> None:
    with engine.connect().execution_options(maestro_write=True) as connection, connection.begin():
        tables = set(sa.inspect(connection).get_table_names())
        if not tables:
            # A new database is made in one step; test_migrations proves that this equals all migrations.
            metadata.create_all(connection)
            _alembic_version.create(connection)
            connection.execute(_alembic_version.insert().values(version_num=REVISIONS[-1]))
            return
        if "alembic_version" not in tables:
            raise LedgerUnreadable(
                f"{_place(engine)} is a database, but not one of Maestro's.",
                hint="Move it away, or set MAESTRO_HOME to another folder.",
            )
        version = connection.execute(sa.select(_alembic_version.c.version_num)).scalar()
    if version == REVISIONS[-1]:
        return
    if version not in REVISIONS:
        raise LedgerNewer(
            f"{_place(engine)} was written by a newer Maestro (its version is {version}, this program knows {REVISIONS[-1]}).",
            hint="Upgrade Maestro; the database was not touched.",
        )
    _keep_copy(engine, version)
    upgrade(engine)


def upgrade(engine: Engine, target: str = "head") -> None:
    """Run the migrations. Alembic costs a third of a second to import, so only when there are some to run."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", os.path.join(os.path.dirname(__file__), "migrations"))
    with engine.connect().execution_options(maestro_write=True) as connection, connection.begin():
        config.attributes["connection"] = connection
        command.upgrade(config, target)


def _keep_copy(engine: Engine, version: str | None) -> None:
    if engine.url.get_backend_name() != "sqlite" or not engine.url.database:
        return
    copy = f"{engine.url.database}.before-{version or 'none'}"
    if os.path.exists(copy):
        return
    unfinished = f"{copy}.unfinished"
    try:
        _remove(unfinished)
        _copy_whole(engine.url.database, unfinished)
        os.rename(unfinished, copy)
    except PermissionError as error:
        raise _not_creatable(copy, error) from error
    except (sqlite3.Error, OSError) as error:
        kind = DiskFull if _is_full(str(error)) else LedgerError
        raise kind(
            f"The copy of the ledger that an upgrade begins with could not be made: {error}.",
            hint=f"Free {_megabytes(engine.url.database)} MB beside {engine.url.database}, and try again; the ledger was not touched.",
        ) from error
    finally:
        _remove(unfinished)


def _remove(copy: str) -> None:
    """Removes a copy that was cut short, with SQLite's own file beside it."""
    for left in (copy, f"{copy}-journal"):
        if os.path.exists(left):
            os.unlink(left)


def _copy_whole(path: str, to: str) -> None:
    """Copies the ledger, also what is in its log of changes only, into a file of its own that survives a crash."""
    os.close(os.open(to, _CREATE, 0o600))
    source = sqlite3.connect(path)
    target = sqlite3.connect(to)
    try:
        target.execute("PRAGMA synchronous=FULL")
        source.backup(target)
    finally:
        target.close()
        source.close()


def _megabytes(path: str) -> int:
    """Returns the room that an upgrade needs: a copy, and as much again for the changed tables."""
    return 2 * os.path.getsize(path) // 1_000_000 + 1


def _place(engine: Engine) -> str:
    return engine.url.database or "the ledger" if engine.url.get_backend_name() == "sqlite" else "the ledger"


@contextmanager
def translated(engine: Engine) -> Iterator[None]:
    """Database errors, told as our own: what happened, what to do, and that nothing was lost."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        # The second: a connection that could not be set up.
        raise _translate(error, _place(engine)) from error


def _is_full(words: str) -> bool:
    """By the words of SQLite, PostgreSQL and the system."""
    return any(full in words.lower() for full in _FULL)


def _has_no_room(place: str) -> bool:
    """SQLite says "disk I/O error" where there is no room for its files beside the database."""
    try:
        disk = os.statvfs(os.path.dirname(place) or ".")
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _LEAST_ROOM


def _translate(error: DBAPIError | sqlite3.Error, place: str) -> MaestroError:
    cause = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(error, DataError):
        return InvalidInput(f"The ledger cannot hold that: {cause}.", hint="Leave out control characters.")
    words = str(cause).lower()
    if _is_full(words) or ("i/o error" in words and _has_no_room(place)):
        return DiskFull(f"No space left to write to {place}.", hint="Free some disk space; nothing was lost.")
    if "not a database" in words or "malformed" in words or "corrupt" in words:
        return LedgerUnreadable(
            f"{place} cannot be read as a database: {cause}.",
            hint="It was kept as it is. Move it away to start afresh, or restore it from a backup.",
        )
    if "unable to open" in words or "readonly" in words or "permission denied" in words:
        return LedgerUnreadable(
            f"{place} cannot be opened: {cause}.", hint="Check its owner and mode (0600, yours)."
        )
    if "locked" in words:
        return LedgerError(
            f"{place} is locked by another program.",
            hint="Close that program and try again; nothing was lost.",
        )
    return LedgerError(
        f"The ledger did not take it: {cause}.", hint="See `maestro server logs`; nothing was lost."
    )
