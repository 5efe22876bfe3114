"""How property tests run everywhere: the same examples each time, and no clock, for a first call compiles."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("posepipe", deadline=None, derandomize=True)
settings.load_profile("posepipe")
