"""Where the repository keeps what tests use."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
GOLDEN = ROOT / "tests" / "golden"
DEMO = ROOT / "apps" / "data" / "demo.mcap"
WALK = ROOT / "apps" / "data" / "cut_out.mcap"
"""The recording of a person cut out, which `posepipe bench` times."""
