"""Messages of a ROS 2 database (.db3), of rosbag2 or of the RealSense SDK from 2.58.

References
----------
https://github.com/ros2/rosbag2 , rosbag2_storage_sqlite3 : a table of topics, and one of messages with time and bytes.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from posepipe.errors import DamagedMessageError, FormatError
from posepipe.io.files import disk_errors, open_regular
from posepipe.io.limits import MAX_BLOCK_BYTES, check_block
from posepipe.recording.containers.message_file import (
    DAMAGE,
    MessageFile,
    Topic,
    check_time,
    short_kind,
)

MAGIC = b"SQLite format 3\0"
_JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_TABLES = {"topics", "messages"}


class SqliteFile(MessageFile):
    """Messages of one database.

    The write-ahead log of a killed recorder, beside the file, is read with it.

    Raises
    ------
    FormatError
        When the file is not a database, contains no recording, or is cut. A cut database cannot be read.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with open_regular(self.path) as stream, disk_errors(self.path):
            head = stream.read(len(MAGIC))
        if head != MAGIC:
            problem = "the file is empty" if not head else "wanted a ROS 2 database (SQLite), got something else"
            raise FormatError(self.path, problem)
        with disk_errors(self.path), self._database_errors():
            self._database = sqlite3.connect(_database_uri(self.path), uri=True, check_same_thread=False)
        try:
            with self._database_errors():
                self._database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BLOCK_BYTES)
                self._database.execute("PRAGMA trusted_schema = OFF")
                self._check_tables()
                self._ids, self.topics = self._read_topics()
        except BaseException:
            self._database.close()
            raise
        self._places: dict[str, np.ndarray] = {}

    def times_ns(self, topic: str) -> np.ndarray:
        """Times of all messages of a topic, int64 (N,), nanoseconds, ascending."""
        return self._places_of(topic)[:, 0]

    def _read_message(self, topic: str, index: int) -> bytes:
        """Read one message. Raises DamagedMessageError where the file is damaged."""
        id = int(self._places_of(topic)[index, 1])
        try:
            length = self._database.execute("SELECT length(data) FROM messages WHERE id = ?", (id,)).fetchone()
            check_block(length[0] if length and isinstance(length[0], int) else 0)
            found = self._database.execute("SELECT data FROM messages WHERE id = ?", (id,)).fetchone()
            if found is None or not isinstance(found[0], bytes):
                raise ValueError(f"{topic}: message {id} is not where the index says")
        except (sqlite3.Error, *DAMAGE) as error:
            raise DamagedMessageError(self.path, f"the database is damaged ({error})") from error
        return found[0]

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @contextmanager
    def _database_errors(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, TypeError, *DAMAGE) as error:  # TypeError: a NULL in place of a number
            raise FormatError(self.path, f"the database is cut or damaged ({error})") from error

    def _check_tables(self) -> None:
        """Refuse views, virtual tables and generated columns: reading them could run code of their author."""
        rows = self._database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
        plain = {name for name, sql in rows if not str(sql).upper().lstrip().startswith("CREATE VIRTUAL")}
        if not plain >= _TABLES:
            there = ", ".join(sorted(str(name) for name, _ in rows)) or "none"
            raise FormatError(self.path, f"no ROS 2 recording: wanted tables topics and messages, got {there}")
        for table in sorted(_TABLES):
            for _, name, *_, hidden in self._database.execute(f"PRAGMA table_xinfo({table})"):
                if hidden:  # a computed value may be far larger than the file
                    problem = f"wanted stored columns, {table}.{name} is computed; convert the recording"
                    raise FormatError(self.path, problem)

    def _read_topics(self) -> tuple[dict[str, list[int]], dict[str, Topic]]:
        counts = dict(self._database.execute("SELECT topic_id, count(*) FROM messages GROUP BY topic_id"))
        ids: dict[str, list[int]] = {}
        topics: dict[str, Topic] = {}
        for id, *row in self._database.execute("SELECT id, name, type, serialization_format FROM topics ORDER BY id"):
            name, kind, encoding = map(str, row)
            known = topics.get(name)
            count = counts.get(id, 0)
            topics[name] = Topic(name, short_kind(kind), encoding, count + (known.count if known else 0))
            ids.setdefault(name, []).append(int(id))
        return ids, topics

    def _places_of(self, topic: str) -> np.ndarray:
        """Positions of all messages, int64 (N, 2): time and id, in order of time."""
        if topic not in self._places:
            ids = self._ids[topic]
            marks = ",".join("?" * len(ids))
            wanted = f"SELECT timestamp, id FROM messages WHERE topic_id IN ({marks}) ORDER BY 1, 2"  # nosec B608
            with self._database_errors():
                rows = [(check_time(int(time)), int(id)) for time, id in self._database.execute(wanted, ids)]
                self._places[topic] = np.array(rows, np.int64).reshape(-1, 2)
        return self._places[topic]


def _database_uri(path: Path) -> str:
    """URI that opens a database read-only, with locks only if there is a write-ahead log.

    Raises FormatError for an interrupted write with a rollback journal: recovery needs write access.
    """
    journal = path.with_name(path.name + "-journal")
    if journal.is_file():
        with open_regular(journal) as stream:
            interrupted = stream.read(len(_JOURNAL_MAGIC)) == _JOURNAL_MAGIC
        if interrupted:
            problem = f"its recorder was killed while it wrote; put it right first: sqlite3 {path.name} .tables"
            raise FormatError(path, problem)
    wal = path.with_name(path.name + "-wal")
    immutable = not wal.exists() or wal.stat().st_size == 0
    return f"{path.resolve().as_uri()}?mode=ro{'&immutable=1' if immutable else ''}"
