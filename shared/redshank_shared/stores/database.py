"""A database's connections: transactions, waits that hold nothing up, errors as ours."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ParamSpec, TypeVar

from sqlalchemy import Connection
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.pool import PoolProxiedConnection

from redshank_shared.stores import in_loop
from redshank_shared.stores.dialect import (
    DRIVER_ERRORS,
    Dialect,
    Synchronous,
    recognise,
    translate,
)
from redshank_shared.stores.hot import HotStatements

_SETTLE_SECONDS = 2.0

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Database:
    """One database of either brand. Safe to use from several threads.

    While it cannot be reached every method raises Unavailable; the next call tries anew (F56).
    """

    def __init__(self, url: str, *, synchronous: Synchronous = "FULL", pool_size: int = 5) -> None:
        """`url`: `sqlite:///PATH` or `postgresql://…`; Misconfigured names it if it is neither.

        `synchronous` is SQLite's: what was committed survives a power cut with FULL only.
        """
        self.url = url
        self.dialect: Dialect = recognise(url, synchronous)
        self._engine = self.dialect.open_engine(pool_size)
        self.hot = HotStatements(self.dialect, self._engine.dialect)
        self._room = asyncio.Semaphore(pool_size)
        self._is_ready = self.dialect.is_in_process

    async def run(
        self, work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """Do the work without holding up the loop: SQLite at once, PostgreSQL while it waits."""
        if self.dialect.is_in_process:
            return work(*args, **kwargs)
        if not self._is_ready:
            await asyncio.to_thread(self._make_ready)
        async with self._room:
            return await in_loop.run(work, *args, **kwargs)

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A write transaction: committed at the end, rolled back by any error."""
        with self.dialect.writers_turn(), self._core(self.dialect.begin_write) as connection:
            yield connection
            connection.commit()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and changes nothing."""
        with self._core(self.dialect.begin_read) as connection:
            yield connection
            # At a ROLLBACK psycopg forgets what the connection has prepared: the statements of
            # turns would be parsed and planned anew after every read of something else.
            connection.commit()

    @contextmanager
    def hot_transaction(self) -> Iterator[DBAPICursor]:
        """`begin` for hot statements: a driver's cursor in a write transaction."""
        with self.dialect.writers_turn(), self._driver() as connection:
            cursor = connection.cursor()
            cursor.execute(self.dialect.begin_write)
            yield cursor
            connection.commit()

    @contextmanager
    def hot_write(self) -> Iterator[DBAPICursor]:
        """A driver's cursor for one hot statement that writes, which commits by itself."""
        with self.dialect.writers_turn(), self._driver() as connection:
            yield connection.cursor()

    @contextmanager
    def hot_statement(self) -> Iterator[DBAPICursor]:
        """A driver's cursor for one hot statement that reads."""
        with self._driver() as connection:
            yield connection.cursor()

    def ping(self) -> None:
        """Return if the database answers; else Unavailable."""
        with self.hot_statement() as cursor:
            cursor.execute("SELECT 1")
            cursor.fetchall()

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    async def settled(self) -> None:
        """Return when nothing that was asked here is under way, after 2 s at the latest: to be
        awaited before the loop ends, since work goes on when its caller was cancelled.
        """
        if not self.dialect.is_in_process:
            await in_loop.settled(_SETTLE_SECONDS)

    def migration_lock(self) -> AbstractContextManager[None]:
        """Held by one process at a time while it changes the tables (F44)."""
        return self.dialect.migration_lock(self._engine)

    def _make_ready(self) -> None:
        """The engine's first connection asks the server about itself, under a lock that no work in
        the loop may meet.
        """
        self._checked_out().close()
        self._is_ready = True

    @contextmanager
    def _core(self, begin: str) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                connection.exec_driver_sql(begin)
                yield connection
        except DRIVER_ERRORS as error:
            _raise_ours(error)
            raise

    @contextmanager
    def _driver(self) -> Iterator[PoolProxiedConnection]:
        connection = self._checked_out()
        try:
            yield connection
        except DRIVER_ERRORS as error:
            driver = connection.dbapi_connection
            if isinstance(error, self._engine.dialect.loaded_dbapi.Error) and (
                self._engine.dialect.is_disconnect(error, driver, None)
            ):
                connection.invalidate(error)
            _raise_ours(error)
            raise
        finally:
            # The pool rolls back what was not committed.
            connection.close()

    def _checked_out(self) -> PoolProxiedConnection:
        try:
            return self._engine.raw_connection()
        except DRIVER_ERRORS as error:
            _raise_ours(error)
            raise


def _raise_ours(error: Exception) -> None:
    ours = translate(error)
    if ours is not None:
        raise ours from error
