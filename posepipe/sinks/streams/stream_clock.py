"""Times of frames in messages that know no time before 1970."""

from __future__ import annotations


class StreamClock:
    """Converts times of frames to nanoseconds since the Unix epoch, none below 0.

    Without a date, frames may be negative: those of a second camera that began earlier. The first of them is at 0, and
    all others keep their distance from it, as in recordings.

    Parameters
    ----------
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown
    """

    def __init__(self, start_time_ns: int) -> None:
        self._zero_ns = start_time_ns  # time in messages of ``timestamp_s`` 0

    def stamp_ns(self, timestamp_s: float) -> int:
        """Time of a frame. A frame below 0 moves those that follow it."""
        time_ns = round(timestamp_s * 1e9)
        self._zero_ns = max(self._zero_ns, -time_ns)
        return self._zero_ns + time_ns
