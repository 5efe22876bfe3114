"""Rules by which probes read a depth image. A forest is right only under the rules that it was trained by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ProbeRules:
    """How a probe becomes a pixel, and what it reads where there is none."""

    rounding: str  #: of the offset in pixels: "half up", or "truncation" towards the pixel
    outside: str  #: a probe outside the image reads "background", or the nearest pixel of its "border"
    background_m: float  #: depth of pixels without reading and of those beside the person, metres
    #: offsets are pixels of a camera of this focal length, at 1 m; None = offsets are metres
    focal_px: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain data, ready for JSON; a focal length that is None is left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ProbeRules:
        """Return the known rules with this data. Raises ValueError for any other."""
        for rules in (METRIC, CLAMPED):
            if data == rules.to_dict():
                return rules
        known = " and ".join(str(rules.to_dict()) for rules in (METRIC, CLAMPED))
        raise ValueError(f"probe rules {data!r:.200}, this posepipe knows {known}")


METRIC = ProbeRules("half up", "background", 10.0)
"""Rules of the forests that posepipe trains."""
CLAMPED = ProbeRules("truncation", "border", 32.767, focal_px=525.0)
"""Rules of the forests of the Point Cloud Library's people detector."""
