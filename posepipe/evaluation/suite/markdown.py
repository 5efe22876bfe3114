"""Tables in Markdown, and the numbers in them."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Lay out a table in Markdown."""
    header = list(header)
    lines = [[cell.replace("|", "\\|") for cell in row] for row in (header, *rows)]
    body = [f"| {' | '.join(cells)} |".replace("|  |", "| |") for cells in lines]
    return "\n".join([body[0], "|---" * len(header) + "|", *body[1:]])


def number(value: float | None, digits: int = 3) -> str:
    """Format a figure; "-" where there is nothing to measure."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if digits == 0 else f"{value:.{digits}f}"
