"""Mutations of the cells of an SQLite database."""

from __future__ import annotations

import sqlite3
from random import Random

from tests.robustness.mutations import mutate

MAGIC = b"SQLite format 3\0"


def mutate_database(rng: Random, content: bytes) -> bytes:
    """Set one cell of an SQLite database, or a setting of its file."""
    database = sqlite3.connect(":memory:")
    try:
        database.deserialize(content)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice(tables)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        rows = [row for (row,) in database.execute(f"SELECT rowid FROM {table}")]
        row = rng.choice(rows)
        (old,) = database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        if isinstance(old, bytes) and rng.random() < 0.8:
            value: object = mutate(rng, old)
        else:
            value = rng.choice((None, -1, 0, 2**63 - 1, -(2**63), 1e308, "x", "\x1b[2J", b"", b"\xff\xfe", 1.5))
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        database.commit()
        return database.serialize()
    except (sqlite3.Error, IndexError, TypeError):  # a NULL where none may be
        return mutate(rng, content)
    finally:
        database.close()
