"""Send depth frames to posepipe: python feed_depth.py PORT|PIPE|- [FRAMES]. In any language: a line, then bytes."""

import json
import socket
import struct
import sys
import time
from contextlib import suppress

import numpy as np

target, frames = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
if target.isdecimal():  # camera:socket:PORT
    stream = socket.create_connection(("127.0.0.1", int(target))).makefile("wb")
else:  # camera:pipe:PIPE
    stream = open(1 if target == "-" else target, "wb")  # noqa: SIM115

header = {"width": 320, "height": 240, "fx": 285.6, "fy": 285.6, "cx": 159.5, "cy": 119.5, "depth_unit_m": 0.001}
with suppress(ConnectionError), stream:  # posepipe may close it first
    stream.write(json.dumps(header).encode() + b"\n")
    for i in range(frames):
        depth_mm = np.full((240, 320), 1000 + i, "<u2")  # your camera's image; 0 where it has no reading
        stream.write(struct.pack("<Q", time.time_ns()) + depth_mm.tobytes())
        stream.flush()
        time.sleep(1 / 30)
