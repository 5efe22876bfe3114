"""Results as TRC, the table of markers that OpenSim and other biomechanics programs read.

Markers are the joints as found, not moved by rigid bones. Units are metres, y is up. A missing marker has empty cells.
A tab ends every line of the table, as in files of Cortex: OpenSim does not count an empty cell at the end of a line.
Content of the files: docs/reference/results.md.

References
----------
OpenSim documentation, "Marker (.trc) files".
"""

from __future__ import annotations

import numpy as np

from posepipe.sinks.motion.person_motion import PersonMotion

_DECIMALS = 4


def trc_bytes(motion: PersonMotion) -> bytes:
    """Return the content of a TRC file; a joint that is never found is no marker.

    Raises ValueError for a first frame before the run, as of a clock that jumped: its times would be negative.
    """
    if motion.first_frame < 0:
        raise ValueError(f"a TRC file cannot begin at frame {motion.first_frame} of the run; are the timestamps right?")
    known = np.isfinite(motion.joints_m).all(axis=(0, 2))
    names = ["_".join(name.split()) for name, found in zip(motion.body.joints, known, strict=True) if found]
    markers_m = motion.markers_m()[:, known]
    first, frames, rate = motion.first_frame + 1, len(markers_m), 1 / motion.frame_s
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{motion.file_name}",
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames",
        f"{rate:.6f}\t{rate:.6f}\t{frames}\t{len(names)}\tm\t{rate:.6f}\t{first}\t{frames}",
        "Frame#\tTime\t" + "".join(f"{name}\t\t\t" for name in names),
        "\t\t" + "".join(f"X{k}\tY{k}\tZ{k}\t" for k in range(1, len(names) + 1)),
        "",
    ]
    for row, markers in enumerate(markers_m.reshape(frames, -1).tolist()):
        frame = motion.first_frame + row
        cells = (f"{value:.{_DECIMALS}f}" if value == value else "" for value in markers)
        lines.append("\t".join((str(frame + 1), f"{frame * motion.frame_s:.6f}", *cells, "")))
    return ("\n".join(lines) + "\n").encode()
