"""DDS types of ROS 2 messages, from the definitions of the messages, and the names of topics and types in DDS.

Messages stay bytes: a sample carries what another program serialised, and nothing is unpacked here. CycloneDDS checks
that the bytes fit the type.

References
----------
ROS 2 design: Topic and Service name mapping to DDS; Mapping between ROS interface types and DDS IDL types.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from posepipe.recording.ros.messages import typestore

_TOPIC_PREFIX = "rt"
_NUMBERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64")


def dds_topic(topic: str) -> str:
    """Name in DDS of a topic of ROS 2."""
    return f"{_TOPIC_PREFIX}/{topic.lstrip('/')}"


def ros_topic(name: str) -> str | None:
    """Topic of ROS 2 that a name in DDS stands for; None for other names, such as those of services."""
    prefix, slash, rest = name.partition("/")
    return f"/{rest}" if slash and prefix == _TOPIC_PREFIX else None


def ros_type(name: str) -> str:
    """Message type of ROS 2, such as sensor_msgs/msg/Image, of a type in DDS."""
    return name.replace("::dds_::", "::").replace("::", "/").removesuffix("_")


@cache
def message_class(kind: str) -> Any:
    """Class of the samples of a message type: made of its bytes, which are their field ``data``.

    Parameters
    ----------
    kind : such as sensor_msgs/msg/Image

    Raises
    ------
    ValueError
        For an unknown message type.
    """
    if kind not in typestore().fielddefs:
        raise ValueError(f"an unknown type of messages, {kind}")
    return _struct(kind, (_bytes_of_messages(),))


@cache
def _bytes_of_messages() -> Any:
    from cyclonedds.idl import IdlStruct

    class Message(IdlStruct):
        """A serialised message. Replaces what cyclonedds makes of the fields of a type."""

        def __init__(self, data: bytes) -> None:
            self.data = data

        def serialize(self, **_: Any) -> bytes:
            return self.data

        @classmethod
        def deserialize(cls, data: bytes, **_: Any) -> Message:
            return cls(data)

        @classmethod
        def deserialize_key(cls, data: bytes, **_: Any) -> Message:
            return cls(b"")

    return Message


def _struct(kind: str, bases: tuple[Any, ...] = ()) -> Any:
    """Class of cyclonedds for the fields of a message type."""
    from cyclonedds.idl import make_idl_struct

    package, _, name = kind.split("/")
    _, fields = typestore().fielddefs[kind]
    types = {field: _field(node) for field, node in fields}
    return make_idl_struct(name, f"{package}.msg.dds_.{name}_", types, bases=bases, dataclassify=not bases)


_part = cache(_struct)


def _field(node: Any) -> Any:
    """Type in cyclonedds of a field, from its definition in rosbags."""
    from cyclonedds.idl import types
    from rosbags.interfaces import Nodetype

    what, definition = node
    if what == Nodetype.NAME:
        return _part(definition)
    if what == Nodetype.BASE:
        base, _ = definition
        return getattr(types, base) if base in _NUMBERS else {"bool": bool, "string": str, "byte": types.uint8}[base]
    element, count = definition
    return types.array[_field(element), count] if what == Nodetype.ARRAY else types.sequence[_field(element)]
