"""All that differs between the two databases."""

import fcntl
import os
import select
import sqlite3
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Literal, Protocol

import psycopg
import psycopg.errors
from sqlalchemy import (
    ColumnElement,
    Double,
    Engine,
    Index,
    Table,
    create_engine,
    event,
    exc,
    make_url,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import Boolean

from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    Misconfigured,
    RedshankError,
    Unavailable,
)
from redshank_shared.stores import in_loop

Synchronous = Literal["FULL", "NORMAL"]
OnceInsert = sqlite.Insert | postgresql.Insert

BUSY_SECONDS = 5.0
_TURN_SECONDS = 0.0002
_LOCK_FLAGS = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_MIGRATION_LOCK = 5_183_749_021
DRIVER_ERRORS = (
    sqlite3.Error,
    psycopg.Error,
    exc.SQLAlchemyError,
    OverflowError,
    UnicodeEncodeError,
)


class Dialect(Protocol):
    """What the stores ask of a database's brand."""

    name: str
    # Its statements cost next to nothing to reach: no journey, no wait for an answer.
    is_in_process: bool
    begin_write: str
    begin_read: str

    def open_engine(self, pool_size: int) -> Engine:
        """An engine whose connections commit each statement unless a transaction was begun."""
        ...

    def insert(self, table: Table) -> OnceInsert:
        """An insert that can say what happens when the row is there already."""
        ...

    def is_empty(self) -> bool:
        """Whether nothing can be stored yet, known without opening a connection."""
        ...

    def writers_turn(self) -> AbstractContextManager[None]:
        """Held around what writes, where only one can write at a time."""
        ...

    def migration_lock(self, engine: Engine) -> AbstractContextManager[None]:
        """Held by one process at a time, given back by the system when it dies (F44)."""
        ...


class Sqlite:
    """One file, write-ahead log, one writer at a time."""

    name = "sqlite"
    is_in_process = True
    begin_write = "BEGIN IMMEDIATE"
    begin_read = "BEGIN"

    def __init__(self, url: URL, synchronous: Synchronous) -> None:
        self._url = url
        self._synchronous = synchronous
        self._path = Path(url.database or "")

    def open_engine(self, pool_size: int) -> Engine:
        arguments: dict[str, Any] = {
            "check_same_thread": False,
            "isolation_level": None,
            "timeout": BUSY_SECONDS,
            "cached_statements": 256,
        }
        arguments = _unless_given(arguments, self._url)
        engine = create_engine(
            self._url,
            connect_args=arguments,
            paramstyle="named",
            pool_size=pool_size,
            max_overflow=2,
            pool_timeout=10,
        )
        event.listen(engine, "connect", self._prepare)
        return engine

    def insert(self, table: Table) -> OnceInsert:
        return sqlite.insert(table)

    def is_empty(self) -> bool:
        return not self._path.exists() or self._path.stat().st_size == 0

    @contextmanager
    def writers_turn(self) -> Iterator[None]:
        """SQLite's own wait for another writer sleeps up to 100 ms at a time; this one a fraction
        of one.

        After BUSY_SECONDS it goes on without, and SQLite says that the database is locked.
        """
        lock = os.open(self._path.with_name(self._path.name + ".writing"), _LOCK_FLAGS, 0o644)
        try:
            patience = time.monotonic() + BUSY_SECONDS
            while not _locked(lock) and time.monotonic() < patience:
                time.sleep(_TURN_SECONDS)
            yield
        finally:
            os.close(lock)

    @contextmanager
    def migration_lock(self, engine: Engine) -> Iterator[None]:
        with self._path.with_name(self._path.name + ".migrating").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _prepare(self, connection: sqlite3.Connection, _record: object) -> None:
        connection.execute(f"PRAGMA synchronous={self._synchronous}")
        # A 50 MB output must not leave a log of that size behind for good.
        connection.execute("PRAGMA journal_size_limit=67108864")
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal":
            connection.execute("PRAGMA journal_mode=WAL")


class Postgres:
    """A server over psycopg 3."""

    name = "postgresql"
    is_in_process = False
    begin_write = "BEGIN"
    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

    def __init__(self, url: URL) -> None:
        self._url = url.set(drivername="postgresql+psycopg")

    def open_engine(self, pool_size: int) -> Engine:
        arguments: dict[str, Any] = {
            "application_name": "redshank",
            "connect_timeout": 5,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        }
        arguments = _unless_given(arguments, self._url)
        engine = create_engine(
            self._url,
            connect_args=arguments,
            isolation_level="AUTOCOMMIT",
            pool_size=pool_size,
            max_overflow=2,
            pool_timeout=10,
            # The connection used last: what it has prepared is warm on both sides.
            pool_use_lifo=True,
        )
        event.listen(engine, "do_connect", self._connect)
        event.listen(engine, "checkout", self._refuse_stale)
        return engine

    def insert(self, table: Table) -> OnceInsert:
        return postgresql.insert(table)

    def is_empty(self) -> bool:
        return False

    def writers_turn(self) -> AbstractContextManager[None]:
        return nullcontext()

    @contextmanager
    def migration_lock(self, engine: Engine) -> Iterator[None]:
        with engine.connect() as connection:
            connection.exec_driver_sql(f"SELECT pg_advisory_lock({_MIGRATION_LOCK})")
            try:
                yield
            finally:
                connection.exec_driver_sql(f"SELECT pg_advisory_unlock({_MIGRATION_LOCK})")

    @staticmethod
    def _connect(
        _dialect: object, _record: object, arguments: list[Any], named: dict[str, Any]
    ) -> in_loop.Connection:
        def connect() -> in_loop.Connection:
            return in_loop.Connection.connect(*arguments, **named)

        return in_loop.in_thread(connect) if in_loop.is_within() else connect()

    @staticmethod
    def _refuse_stale(
        connection: "psycopg.Connection[Any]", _record: object, _proxy: object
    ) -> None:
        # A server that ended an idle connection has left its farewell in the socket: seen without a
        # round trip. The pool then opens a new one by itself (F56).
        watch = select.poll()
        watch.register(connection.fileno(), select.POLLIN | select.POLLHUP)
        if watch.poll(0):
            raise exc.InvalidatePoolError("the server ended this connection")


def recognise(url: str, synchronous: Synchronous) -> Dialect:
    """The dialect of `sqlite:///PATH` or `postgresql://…`; else Misconfigured (`database.url`)."""
    try:
        parsed = make_url(url)
    except (exc.ArgumentError, ValueError) as error:
        raise _bad_url("it is not a URL") from error
    if parsed.drivername == "sqlite":
        if not parsed.database or parsed.database == ":memory:":
            raise _bad_url("it names no file")
        folder = Path(parsed.database).parent
        if not folder.is_dir():
            raise _bad_url(f"there is no folder {folder}; make it, or let `redshank up` do so")
        return Sqlite(parsed, synchronous)
    if parsed.drivername in {"postgresql", "postgres", "postgresql+psycopg"}:
        return Postgres(parsed)
    raise _bad_url("its scheme is neither sqlite nor postgresql")


def _locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _unless_given(arguments: dict[str, Any], url: URL) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if name not in url.query}


def _bad_url(why: str) -> Misconfigured:
    return Misconfigured(
        f"database.url cannot be used: {why}. Write sqlite:///PATH or postgresql://USER@HOST/NAME",
        code="bad_database_url",
        field="database.url",
    )


def translate(error: BaseException) -> RedshankError | None:
    """What a driver's error means to the one who must act; None where it is a fault of ours."""
    cause = error.orig if isinstance(error, exc.DBAPIError) and error.orig else error
    if isinstance(cause, psycopg.errors.UndefinedTable) or "no such table" in str(cause):
        return Misconfigured(
            "the database has no tables of Redshank yet: run `redshank migrate`",
            code="not_migrated",
        )
    if isinstance(cause, (sqlite3.IntegrityError, psycopg.IntegrityError)):
        return Conflict("such a row is there already: load it, then decide again", code="duplicate")
    if isinstance(cause, (sqlite3.DataError, psycopg.DataError, OverflowError, UnicodeEncodeError)):
        return Invalid("a value cannot be stored: it is too large or holds NUL or half characters")
    if isinstance(cause, sqlite3.ProgrammingError | psycopg.ProgrammingError):
        return None
    if isinstance(cause, sqlite3.DatabaseError | psycopg.Error | exc.TimeoutError | exc.DBAPIError):
        return Unavailable(
            f"the database does not answer ({_first_line(cause)}): check it, try again"
        )
    return None


def duplicate_in(error: BaseException) -> str | None:
    """The table in which PostgreSQL found the row there already; None for any other error."""
    return error.diag.table_name if isinstance(error, psycopg.errors.UniqueViolation) else None


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def partial_index(name: str, *columns: ColumnElement[Any], where: ColumnElement[bool]) -> Index:
    """An index of the rows that fulfil `where` only."""
    return Index(name, *columns, sqlite_where=where, postgresql_where=where)


class now_seconds(FunctionElement[float]):  # noqa: N801 - reads as the SQL function it is
    """Seconds since 1970 by the database's own clock."""

    type = Double()
    inherit_cache = True
    name = "now_seconds"


@compiles(now_seconds, "sqlite")
def _now_in_sqlite(_element: now_seconds, _compiler: SQLCompiler, **_options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(now_seconds, "postgresql")
def _now_in_postgres(_element: now_seconds, _compiler: SQLCompiler, **_options: Any) -> str:
    return "CAST(extract(epoch from clock_timestamp()) AS DOUBLE PRECISION)"


class contains(FunctionElement[bool]):  # noqa: N801 - reads as the SQL function it is
    """Whether the first text holds the second, letter by letter, without wildcards."""

    type = Boolean()
    inherit_cache = True
    name = "contains"


@compiles(contains, "sqlite")
def _contains_in_sqlite(element: contains, compiler: SQLCompiler, **options: Any) -> str:
    return f"(instr({compiler.process(element.clauses, **options)}) > 0)"


@compiles(contains, "postgresql")
def _contains_in_postgres(element: contains, compiler: SQLCompiler, **options: Any) -> str:
    return f"(strpos({compiler.process(element.clauses, **options)}) > 0)"
