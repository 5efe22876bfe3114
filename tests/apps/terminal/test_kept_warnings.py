"""Warnings of a worker's thread are kept, and nothing else."""

from __future__ import annotations

import logging
import threading

from apps.terminal.kept_warnings import kept_warnings

LOG = logging.getLogger("posepipe.sources")


def test_warnings_are_kept_while_the_context_is_open():
    with kept_warnings() as lines:
        LOG.warning("%s: cut after %d bytes", "walk.oni", 7)
        LOG.info("not a warning")
    LOG.warning("too late")
    assert lines == ["walk.oni: cut after 7 bytes"]


def test_warnings_of_another_thread_are_left_to_it():
    with kept_warnings() as lines:
        other = threading.Thread(target=LOG.warning, args=("of another",))
        other.start()
        other.join()
    assert lines == []
