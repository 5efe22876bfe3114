"""Origin of what was trained: which frames, by which program and command."""

from __future__ import annotations

from typing import Any

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.models.provenance import source_revision


def origin_of(frames: FrameSequence, command: str) -> dict[str, Any]:
    """Return number, identity and recipes of the frames, the revision of posepipe and the command line, as metadata."""
    return {
        "frames": len(frames),
        "identity": frames.identity,
        "recipes": frames.recipes,
        "source_revision": source_revision(),
        "command": command,
    }
