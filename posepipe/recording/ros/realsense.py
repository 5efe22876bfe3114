"""Depth unit and distortion model of RealSense recordings: bags of the SDK and, from 2.58, its databases.

Both have topics such as ``/device_0/sensor_0/Depth_0/image/data``. Bags store values as numbers, databases as text.
"""

from __future__ import annotations

import re

from posepipe.recording.containers.message_file import MessageFile
from posepipe.recording.ros.message_fields import MessageFields

_STREAM = re.compile(r"(?P<stream>(?P<sensor>/device_\d+/sensor_\d+)/\w+_\d+)/image/data")
_OPTION_NAMES = ("Depth_Units", "Depth Units")  # the second: older SDKs
_MILLIMETRE = 0.001
_MODEL_FIELD = re.compile(r"(?:^|;)model=([^;]*)")


def depth_unit_m(file: MessageFile, topic: str) -> float | None:
    """Metres per grey level of a RealSense stream; None for other cameras, and for millimetres.

    ROS prescribes millimetres. These recordings contain raw sensor values, and their unit as a sensor option.
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


def distortion_model(file: MessageFile, topic: str) -> str | None:
    """The SDK's name of the distortion model of a stream in a database; None = not given.

    The camera_info of a database always says plumb_bob.
    """
    found = _STREAM.match(topic)
    name = f"{found['stream']}/camera_info" if found else ""
    if name not in file.topics or file.topics[name].kind != "std_msgs/String" or not file.topics[name].count:
        return None
    with file.errors_of(name, 0):
        model = _MODEL_FIELD.search(_text(file, name))
    return model[1] if model else None


def _value(file: MessageFile, topic: str) -> float:
    if file.topics[topic].kind == "std_msgs/String":
        return float(_text(file, topic))
    return MessageFields(file.first(topic)[1], file.topics[topic].encoding).number("f4")


def _text(file: MessageFile, topic: str) -> str:
    return MessageFields(file.first(topic)[1], file.topics[topic].encoding).text()
