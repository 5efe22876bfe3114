"""What RealSense's own recordings say beside the images: the SDK's bags and, from 2.58 on, its databases.

Both name topics alike, ``/device_0/sensor_0/Depth_0/image/data``; bags hold values as numbers, databases as text.
"""

from __future__ import annotations

import re

from posepipe.recording.containers.message_file import MessageFile
from posepipe.recording.ros.message_fields import MessageFields

_STREAM = re.compile(r"(?P<stream>(?P<sensor>/device_\d+/sensor_\d+)/\w+_\d+)/image/data")
_OPTION_NAMES = ("Depth_Units", "Depth Units")  # the second in files of older SDKs
_MILLIMETRE = 0.001
_LENS_MODEL = re.compile(r"(?:^|;)model=([^;]*)")


def depth_unit_m(file: MessageFile, topic: str) -> float | None:
    """Metres a grey level of a RealSense stream; None for another camera's, or where it is whole millimetres.

    ROS wants millimetres; these recordings hold what the sensor gave, and an option of it says in which unit.
    """
    found = _STREAM.match(topic)
    names = [f"{found['sensor']}/option/{option}/value" for option in _OPTION_NAMES] if found else []
    for name in names:
        if name in file.topics and file.topics[name].count:
            with file.errors_of(name, 0):
                unit_m = _value(file, name)
                if not 0 < unit_m < 1:
                    raise ValueError(f"a depth unit of {unit_m} m")
            return None if abs(unit_m - _MILLIMETRE) < 1e-8 else unit_m
    return None


def lens_model(file: MessageFile, topic: str) -> str | None:
    """The SDK's name of the lens distortion of a stream in a database, whose camera_info calls every one plumb_bob."""
    found = _STREAM.match(topic)
    name = f"{found['stream']}/camera_info" if found else ""
    if name not in file.topics or file.topics[name].kind != "std_msgs/String" or not file.topics[name].count:
        return None
    with file.errors_of(name, 0):
        model = _LENS_MODEL.search(_text(file, name))
    return model[1] if model else None


def _value(file: MessageFile, topic: str) -> float:
    if file.topics[topic].kind == "std_msgs/String":
        return float(_text(file, topic))
    return MessageFields(file.first(topic)[1], file.topics[topic].encoding).number("f4")


def _text(file: MessageFile, topic: str) -> str:
    return MessageFields(file.first(topic)[1], file.topics[topic].encoding).text()
