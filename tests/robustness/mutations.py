"""Mutations of bytes and of text: each is a function of a random generator and some content."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from random import Random

MAX_OPERATIONS = 4
MAX_BYTES = 1 << 20
"""Mutated content is cut to this size: a file of a thousand copies of a frame takes long, rightly."""

BYTES = (0x00, 0x01, 0x7F, 0x80, 0xFF, 0x0A, 0x20, 0x22, 0x2F, 0x1B)
WHOLE = (0, 1, 2, 255, 256, 1000, (1 << 15) - 1, 1 << 16, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1,
         1 << 33, (1 << 62) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)  # fmt: skip
FLOATS = (0.0, -0.0, 1e-310, 1e-30, -1.0, 1e9, 1e38, 1e308, float("inf"), float("-inf"), float("nan"))
WORDS = (("<H", 2), (">H", 2), ("<I", 4), (">I", 4), ("<Q", 8), (">Q", 8))
FLOAT_WORDS = ("<f", ">f", "<d", ">d")

TOKENS = (
    *("0", "-0", "1", "-1", "2", "-5", "0.0", "0.5", "1e-310", "1e3", "1e308", "-1e308", "1e400", "nan", "-inf", "inf"),
    *("NaN", "Infinity", "2147483647", "2147483648", "4294967296", "9223372036854775807", "9223372036854775808"),
    *("9" * 30, "9" * 400, "1" + "0" * 5000, "0x10", "1_000", "\u0661", "\u00b2", "1e", ".", "--1", "1.2.3"),
    *("null", "true", "false", '""', '"x"', "[]", "{}", "[1]", "[[1, 2], [3]]", "{a = 1}", '{"a": 1}', "1979-05-27"),
    *("[" * 40 + "]" * 40, "[" * 3000, "[" * 3000 + "]" * 3000, '{"a":' * 3000, "a." * 3000 + "a = 1"),
    *("\0", "\x1b[2J", "\r", "\n", "'", '"', "#", ",", "=", "..", "/dev/zero", "../x", "x" * 300, "\ufeff", "\\ud800"),
)
"""Numbers, values and characters that readers of text are likely to mistake."""
_TOKEN = re.compile(r'"(?:[^"\n]|\\")*"|[-+]?[\d.]+(?:[eE][-+]?\d+)?|\w+|[^\w\s]')
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")

Mutation = Callable[[Random, bytearray], bytearray]


def mutate(rng: Random, content: bytes) -> bytes:
    """Apply one to MAX_OPERATIONS random mutations; text is mutated as text, most of the time."""
    is_text = _is_text(content)
    mutated = bytearray(content)
    for _ in range(rng.randint(1, MAX_OPERATIONS)):
        operations = TEXT_MUTATIONS if is_text and rng.random() < 0.85 else BYTE_MUTATIONS
        mutated = rng.choice(operations)(rng, mutated)[:MAX_BYTES]
    return bytes(mutated)


def mutate_in_place(rng: Random, content: bytes) -> bytes:
    """Mutate without a change of size: positions that other records refer to remain."""
    mutated = bytearray(content)
    for _ in range(rng.randint(1, MAX_OPERATIONS)):
        mutated = rng.choice((flip_bit, set_byte, set_word, set_float, nudge_word))(rng, mutated)
    return bytes(mutated)


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _place(rng: Random, content: bytearray, size: int = 1) -> int:
    """A position with ``size`` bytes after it; half of the time near an end, where headers and indexes are."""
    last = max(0, len(content) - size)
    if rng.random() < 0.5:
        near = min(last, rng.randint(0, 200))
        return near if rng.random() < 0.7 else last - near
    return rng.randint(0, last)


def _slice(rng: Random, content: bytearray) -> tuple[int, int]:
    start = _place(rng, content)
    return start, min(len(content), start + rng.choice((1, 2, 4, 8, rng.randint(1, 64), rng.randint(1, 4096))))


def flip_bit(rng: Random, content: bytearray) -> bytearray:
    if content:
        content[_place(rng, content)] ^= 1 << rng.randrange(8)
    return content


def set_byte(rng: Random, content: bytearray) -> bytearray:
    if content:
        content[_place(rng, content)] = rng.choice((*BYTES, rng.randrange(256)))
    return content


def set_word(rng: Random, content: bytearray) -> bytearray:
    """Overwrite a number with an interesting one, or with the size of the content."""
    kind, size = rng.choice(WORDS)
    return _overwrite(rng, content, struct.pack(kind, rng.choice((*WHOLE, len(content))) % (1 << 8 * size)))


def set_float(rng: Random, content: bytearray) -> bytearray:
    value, kind = rng.choice(FLOATS), rng.choice(FLOAT_WORDS)
    return _overwrite(rng, content, struct.pack(kind, value if abs(value) < 3e38 or kind[1] == "d" else 3e38))


def _overwrite(rng: Random, content: bytearray, word: bytes) -> bytearray:
    if len(content) >= len(word):
        place = _place(rng, content, len(word))
        content[place : place + len(word)] = word
    return content


def nudge_word(rng: Random, content: bytearray) -> bytearray:
    """Add a little to a number: lengths and counts that are off by a few."""
    kind, size = rng.choice(WORDS)
    if len(content) >= size:
        place = _place(rng, content, size)
        (value,) = struct.unpack_from(kind, content, place)
        struct.pack_into(kind, content, place, (value + rng.randint(-40, 40)) % (1 << 8 * size))
    return content


def truncate(rng: Random, content: bytearray) -> bytearray:
    return content[: _place(rng, content)]


def remove_slice(rng: Random, content: bytearray) -> bytearray:
    start, stop = _slice(rng, content)
    del content[start:stop]
    return content


def repeat_slice(rng: Random, content: bytearray) -> bytearray:
    start, stop = _slice(rng, content)
    content[start:start] = content[start:stop] * rng.choice((1, 1, 2, 10, 1000))
    return content


def splice(rng: Random, content: bytearray) -> bytearray:
    """Replace one slice by another of the same content."""
    (start, stop), (first, last) = _slice(rng, content), _slice(rng, content)
    content[start:stop] = content[first:last]
    return content


def insert_noise(rng: Random, content: bytearray) -> bytearray:
    place = _place(rng, content)
    content[place:place] = rng.randbytes(rng.randint(1, 40)) if rng.random() < 0.7 else bytes(rng.randint(1, 400))
    return content


def _on_text(change: Callable[[Random, str], str]) -> Mutation:
    def apply(rng: Random, content: bytearray) -> bytearray:
        text = change(rng, content.decode("utf-8", "replace"))
        return bytearray(text.encode("utf-8", "replace"))

    return apply


def _replace_match(rng: Random, text: str, pattern: re.Pattern[str], new: Callable[[list[str]], str]) -> str:
    matches = list(pattern.finditer(text))
    if not matches:
        return text
    found = rng.choice(matches)
    return text[: found.start()] + new([match[0] for match in matches]) + text[found.end() :]


def replace_number(rng: Random, text: str) -> str:
    return _replace_match(rng, text, _NUMBER, lambda _: rng.choice(TOKENS))


def replace_token(rng: Random, text: str) -> str:
    return _replace_match(rng, text, _TOKEN, lambda _: rng.choice(TOKENS))


def exchange_token(rng: Random, text: str) -> str:
    """Replace one token by another of the text."""
    return _replace_match(rng, text, _TOKEN, rng.choice)


def remove_token(rng: Random, text: str) -> str:
    return _replace_match(rng, text, _TOKEN, lambda _: "")


def change_line(rng: Random, text: str) -> str:
    """Remove, repeat or move a line."""
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice((0, 1, 2, 300))):
        lines.insert(rng.randint(0, len(lines)), line)
    return "".join(lines)


TEXT_MUTATIONS: tuple[Mutation, ...] = tuple(
    map(_on_text, (replace_number, replace_number, replace_token, exchange_token, remove_token, change_line))
)
BYTE_MUTATIONS: tuple[Mutation, ...] = (
    *(flip_bit, flip_bit, set_byte, set_word, set_word, set_float, nudge_word, nudge_word),
    *(truncate, remove_slice, repeat_slice, splice, insert_noise),
)
