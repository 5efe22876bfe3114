"""What a driver of a depth camera answers; how its frames become a source is the business of `LiveSource`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from threading import Event
from types import ModuleType
from typing import Protocol

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError


@dataclass(frozen=True, slots=True, eq=False)
class CameraFrame:
    """What a camera gave, before anything is made of it."""

    depth: np.ndarray  #: (H, W), uint16 millimetres or float32 metres; no buffer that the driver fills again
    time_ns: int | None = None  #: of the camera's own clock; None = it has none, the moment of arrival counts
    since_epoch: bool = False  #: whether that clock counts from the Unix epoch
    number: int | None = None  #: the camera's own count of its frames; None = it does not count


class DepthCamera(Protocol):
    """A driver. One thread at a time calls it; making one touches no device, `open` does.

    `SourceError` says that the camera failed and may come back: it is opened again. Any other error is final.
    """

    name: str  #: what the user called it
    intrinsics: Intrinsics  #: once it is open
    shape: tuple[int, int]  #: rows and columns, once it is open
    waits: bool  #: what we do not read yet is kept for us: nothing is lost by being slow
    recorded: bool  #: all of it is there already: it is played whole, not live

    def open(self, stop: Event) -> None:
        """Connect, or connect anew; ends soon after ``stop`` is set. Raises SourceError where nothing answers."""

    def read(self, timeout_s: float) -> CameraFrame | None:
        """The next frame, or None when none came in time.

        Raises
        ------
        SourceError
            When the camera is gone.
        EOFError
            When there will be no more frames, and nothing is wrong.
        """

    def close(self) -> None:
        """Let go of the device, in whatever state it is."""


def import_sdk(name: str, module: str, install: str) -> ModuleType:
    """A vendor's Python package. Raises SourceError that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise SourceError(name, f"needs the Python package {module}: {install} ({error})") from error


def choose_device(name: str, argument: str, serials: list[str], maker: str) -> int:
    """Which device ``argument`` means: a serial number, else a place in the list; the first where it is empty.

    Raises SourceError, naming those that are there, where it means none.
    """
    if not serials:
        raise SourceError(name, f"no {maker} camera is connected, or this user may not open it")
    if argument in serials:
        return serials.index(argument)
    if argument == "":
        return 0
    if argument.isdecimal() and int(argument) < len(serials):
        return int(argument)
    raise SourceError(name, f"no such camera; connected are {', '.join(serials)} (0 to {len(serials) - 1})")
