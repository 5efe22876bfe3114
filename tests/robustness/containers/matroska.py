"""Mutations of the elements of a Matroska file (EBML, RFC 8794)."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from random import Random

from tests.robustness.mutations import WHOLE, mutate, mutate_in_place

MAGIC = b"\x1a\x45\xdf\xa3"
_MASTERS = (
    *(0x1A45DFA3, 0x18538067, 0x1549A966, 0x1654AE6B, 0xAE, 0xE0, 0x1941A469, 0x61A7, 0x1254C367, 0x7373, 0x63C0),
    *(0x67C8, 0x1F43B675, 0xA0, 0x1C53BB6B, 0xBB, 0xB7),
)
"""Elements that hold elements."""
_UNKNOWN = (1 << 56) - 1


@dataclass(slots=True)
class Element:
    """One element; its size is corrected when it is written, unless one is given."""

    code: bytes
    content: bytes
    children: list[Element] | None
    size: int | None = None

    def packed(self) -> bytes:
        """Bytes of the element, with a size of 8 bytes."""
        content = self.content if self.children is None else b"".join(each.packed() for each in self.children)
        size = len(content) if self.size is None else self.size
        return self.code + ((1 << 56) | size).to_bytes(8, "big") + content


def mutate_matroska(rng: Random, content: bytes) -> bytes:
    """Mutate one element: its value, its size, its place among others, or its name."""
    roots = _parsed(content)
    groups = [roots, *_groups(roots)]
    group = rng.choice([each for each in groups if each])
    k = rng.randrange(len(group))
    element, kind = group[k], rng.random()
    if kind < 0.6:
        _mutate_value(rng, element)
    elif kind < 0.7:
        element.size = rng.choice((_UNKNOWN, 0, *WHOLE)) & _UNKNOWN
    elif kind < 0.8:
        del group[k]
    elif kind < 0.9:
        rng.choice(groups).insert(0, deepcopy(element))
    else:
        element.code = rng.choice([each.code for own in groups for each in own])
    return b"".join(each.packed() for each in roots)


def _mutate_value(rng: Random, element: Element) -> None:
    if element.children is None and len(element.content) == 8 and rng.random() < 0.5:
        element.content = (rng.choice(WHOLE) % (1 << 64)).to_bytes(8, "big")
    else:
        plain = element.content if element.children is None else b"".join(each.packed() for each in element.children)
        element.content, element.children = rng.choice((mutate, mutate_in_place))(rng, plain), None


def _groups(elements: list[Element]) -> list[list[Element]]:
    """Children of each element that has some."""
    found = []
    for each in elements:
        if each.children is not None:
            found += [each.children, *_groups(each.children)]
    return found


def _parsed(content: bytes) -> list[Element]:
    elements, at = [], 0
    while at < len(content):
        code_bytes, size_bytes = _width(content[at]), _width(content[at + _width(content[at])])
        code = content[at : at + code_bytes]
        at += code_bytes
        marked = int.from_bytes(content[at : at + size_bytes], "big")
        size = marked - (1 << 7 * size_bytes)
        at += size_bytes
        body = content[at:] if size == (1 << 7 * size_bytes) - 1 else content[at : at + size]
        children = _parsed(body) if int.from_bytes(code, "big") in _MASTERS else None
        elements.append(Element(code, body, children))
        at += len(body)
    return elements


def _width(first: int) -> int:
    """Length of a number, by its first byte."""
    return 9 - first.bit_length()
