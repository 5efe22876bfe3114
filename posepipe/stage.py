"""Base class of pipeline stages without state."""

from __future__ import annotations


class Stateless:
    """A stage that keeps no state between frames."""

    __slots__ = ()

    def reset(self) -> None:
        """Do nothing: there is no state to reset."""
