"""Commands that are started without standard streams work as with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import WALK

if os.name == "nt":
    pytest.skip("closes streams as a shell of POSIX does", allow_module_level=True)


def run_without(closed: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command with closed streams, such as ``2>&-``."""
    words = ["sh", "-c", f'exec "$@" {closed}', "sh", sys.executable, "-m", "apps.cli", *map(str, command)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_run_with_closed_streams_is_whole(closed, tmp_path):
    out = tmp_path / "walk.jsonl"
    done = run_without(closed, "run", WALK, "--frame-step", "20", "--out", out)
    assert (done.returncode, "error" in done.stderr.lower()) == (0, False)
    assert len(out.read_text().splitlines()) == 4  # the header and 3 frames


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_exit_codes_need_no_streams(closed):
    assert run_without(closed, "--version").returncode == 0
    assert run_without(closed, "nothing").returncode == 2
    assert run_without(closed, "info", "nothing").returncode == 1


def test_a_closed_stream_never_gets_the_number_of_a_file(tmp_path):
    program = "import os, sys; from apps.terminal.standard_streams import replace_closed_streams;"
    program += " replace_closed_streams(); print('lost'); print(os.open(sys.argv[1], os.O_CREAT), file=sys.stderr)"
    words = ["sh", "-c", 'exec "$@" <&- >&-', "sh", sys.executable, "-c", program, str(tmp_path / "file")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert int(done.stderr) > 2
    assert (tmp_path / "file").read_bytes() == b""
