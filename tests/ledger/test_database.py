from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from tests import skips
from tests.ledger.support import Board, Clock
from tests.postgres import PostgreSQL

from maestro.errors import DiskFull, InvalidInput, LedgerError, LedgerNewer, LedgerUnreadable, NoPermission
from maestro.ledger import database
from maestro.ledger.journal import Journal
from maestro.ledger.schema import REVISIONS, metadata
from maestro.ledger.tasks import list_tasks

MIGRATIONS = os.path.join(os.path.dirname(database.__file__), "migrations")


def test_a_database_that_was_made_without_a_locale(postgresql: PostgreSQL | None, place: Path) -> None:
    """As `initdb` makes them where LC_ALL is C."""
    if postgresql is None:
        skips.skip_for(skips.POSTGRESQL)
    url = postgresql.new_database("--template=template0", "--encoding=SQL_ASCII", "--locale=C")
    engine = database.open_database(url)
    try:
        board = Board(Journal(engine, "host_TEST", Clock()), place / "project")
        assert board.task(board.create("Prüfen ✓")).title == "Prüfen ✓"
    finally:
        engine.dispose()


def test_a_new_database_equals_one_that_was_migrated(
    database_url: str, make_database: Callable[[str], str]
) -> None:
    kind = sa.make_url(database_url).get_backend_name()
    migrated = database._engine(make_database(kind))
    new = database.open_database(database_url)
    try:
        database.upgrade(migrated)
        for engine in (migrated, new):
            with engine.connect() as connection:
                assert compare_metadata(MigrationContext.configure(connection), metadata) == []
                version = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
                assert version == REVISIONS[-1]
        reflected = []
        for engine in (migrated, new):
            found = sa.MetaData()
            found.reflect(engine)
            reflected.append(
                {
                    (t.name, c.name, str(c.type), c.nullable, c.primary_key)
                    for t in found.tables.values()
                    for c in t.columns
                }
                | {(t.name, i.name) for t in found.tables.values() for i in t.indexes}
            )
        assert reflected[0] == reflected[1]
    finally:
        migrated.dispose()
        new.dispose()


def test_the_list_of_revisions_is_what_alembic_finds() -> None:
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    scripts = ScriptDirectory.from_config(config)
    assert tuple(s.revision for s in reversed(list(scripts.walk_revisions()))) == REVISIONS


def test_sqlite_is_durable_and_private(place: Path) -> None:
    engine = database.open_database(database.sqlite_url(f"{place}/l.db"))
    with engine.connect() as connection:
        names = ("journal_mode", "synchronous", "foreign_keys")
        assert [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in names] == ["wal", 2, 1]
    for path in place.glob("l.db*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path
    engine.dispose()


def test_an_existing_ledger_is_opened_with_all_it_holds(
    place: Path, open_journal: Callable[[str], Journal]
) -> None:
    url = database.sqlite_url(f"{place}/l.db")
    board = Board(open_journal(url), place / "p")
    board.create("kept")
    assert [t.title for t in open_journal(url).read(list_tasks)] == ["kept"]


def test_a_newer_ledger_is_refused_and_not_touched(database_url: str) -> None:
    database.open_database(database_url).dispose()
    engine = database._engine(database_url)
    with engine.connect().execution_options(maestro_write=True) as connection, connection.begin():
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(LedgerNewer, match="9999") as caught:
        database.open_database(database_url)
    assert "Upgrade" in caught.value.hint


def test_a_file_that_is_no_database_is_kept(place: Path) -> None:
    path = place / "l.db"
    path.write_bytes(b"these are somebody's notes, not a database. " * 100)
    with pytest.raises(LedgerUnreadable, match=r"l\.db"):
        database.open_database(database.sqlite_url(str(path)))
    assert path.read_bytes().startswith(b"these are somebody's notes")


def test_another_programs_database_is_kept(place: Path) -> None:
    path = place / "l.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(LedgerUnreadable, match="not one of Maestro's"):
        database.open_database(database.sqlite_url(str(path)))


def test_a_damaged_ledger_is_told_and_kept(place: Path) -> None:
    path = place / "l.db"
    database.open_database(database.sqlite_url(str(path))).dispose()
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
    damaged = path.read_bytes()
    with pytest.raises(LedgerUnreadable):
        database.open_database(database.sqlite_url(str(path)))
    assert path.read_bytes() == damaged


def test_a_full_disk_loses_nothing(place: Path, open_journal: Callable[[str], Journal]) -> None:
    board = Board(open_journal(database.sqlite_url(f"{place}/l.db")), place / "p")
    board.create("before")

    @sa.event.listens_for(board.journal.engine, "begin")
    def _no_more_pages(connection: sa.Connection) -> None:
        # SQLite's own way to say that there is no room: SQLITE_FULL, as from a full disk.
        connection.exec_driver_sql("PRAGMA max_page_count = 1")

    with pytest.raises(DiskFull, match="No space left"):
        board.create("after", description="x" * 90_000)
    assert [t.title for t in board.journal.read(list_tasks)] == ["before"]
    assert len(board.journal.events_since(None)[0]) == 2


def test_a_locked_ledger_is_told(
    place: Path, open_journal: Callable[[str], Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    board = Board(open_journal(database.sqlite_url(f"{place}/l.db")), place / "p")
    with board.journal.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA busy_timeout = 50")
    other = sqlite3.connect(f"{place}/l.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(LedgerError, match="locked by another program"):
            board.create("blocked")
    finally:
        other.close()
    board.create("free again")


def test_a_folder_that_is_not_there_is_told(place: Path) -> None:
    with pytest.raises(NoPermission, match="cannot be created"):
        database.open_database(database.sqlite_url(f"{place}/nowhere/l.db"))


@pytest.mark.parametrize("url", ["nonsense", "oracle://x/y", "postgresql+nodriver://x/y"])
def test_a_wrong_url_is_told(url: str) -> None:
    with pytest.raises(InvalidInput, match="MAESTRO_DATABASE_URL"):
        database.open_database(url)
