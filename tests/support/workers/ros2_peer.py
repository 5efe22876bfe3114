"""Another program in a domain of ROS 2, with types of its own that cyclonedds serialises.

``send`` publishes a camera of each of `KINDS`, ``receive`` prints a line of JSON for each message of posepipe. Both end
when their standard input closes.
"""

import base64
import json
import select
import sys
import time
from dataclasses import asdict, dataclass

from cyclonedds.core import Policy, Qos
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, float32, float64, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

from posepipe.dds.domain import join_domain
from posepipe.dds.topics import Discovery, Subscriber

KINDS = ("raw", "compressed", "damaged", "colour", "uncalibrated", "distorted")
WIDTH, HEIGHT = 320, 240
STEP_MM = 10
FOCAL = (300.0, 301.0, 159.5, 119.5)
START_S = 1_700_000_000
SKELETONS = "/posepipe/skeletons"
SENSOR, RELIABLE = Policy.Reliability.BestEffort, Policy.Reliability.Reliable(0)


@dataclass
class Time(IdlStruct, typename="builtin_interfaces.msg.dds_.Time_"):
    sec: int32
    nanosec: uint32


@dataclass
class Header(IdlStruct, typename="std_msgs.msg.dds_.Header_"):
    stamp: Time
    frame_id: str


@dataclass
class Image(IdlStruct, typename="sensor_msgs.msg.dds_.Image_"):
    header: Header
    height: uint32
    width: uint32
    encoding: str
    is_bigendian: uint8
    step: uint32
    data: sequence[uint8]


@dataclass
class CompressedImage(IdlStruct, typename="sensor_msgs.msg.dds_.CompressedImage_"):
    header: Header
    format: str
    data: sequence[uint8]


@dataclass
class RegionOfInterest(IdlStruct, typename="sensor_msgs.msg.dds_.RegionOfInterest_"):
    x_offset: uint32
    y_offset: uint32
    height: uint32
    width: uint32
    do_rectify: bool


@dataclass
class CameraInfo(IdlStruct, typename="sensor_msgs.msg.dds_.CameraInfo_"):
    header: Header
    height: uint32
    width: uint32
    distortion_model: str
    d: sequence[float64]
    k: array[float64, 9]
    r: array[float64, 9]
    p: array[float64, 12]
    binning_x: uint32
    binning_y: uint32
    roi: RegionOfInterest


@dataclass
class Skeletons(IdlStruct, typename="posepipe_msgs.msg.dds_.Skeletons_"):
    header: Header
    joint_names: sequence[str]
    person_ids: sequence[uint32]
    xyz_m: sequence[float32]
    confidence: sequence[float32]


def quality(reliability):
    return Qos(reliability, Policy.Durability.Volatile, Policy.History.KeepLast(5))


def depth_mm(i):
    """Millimetres of all pixels of frame ``i``."""
    return 1000 + STEP_MM * (i % 100)


def header(i):
    return Header(Time(START_S + i // 10, i % 10 * 100_000_000), "camera")


def camera_info(kind):
    fx, fy, cx, cy = FOCAL
    k, p = [fx, 0, cx, 0, fy, cy, 0, 0, 1], [fx, 0, cx, 0, 0, fy, cy, 0, 0, 0, 1, 0]
    roi, r = RegionOfInterest(0, 0, 0, 0, False), [1, 0, 0, 0, 1, 0, 0, 0, 1]
    d = [0.1 if kind == "distorted" else 0.0, 0.0, 0.0, 0.0, 0.0]
    return CameraInfo(header(0), HEIGHT, WIDTH, "plumb_bob", d, k, r, p, 0, 0, roi)


def image(i, kind):
    row = depth_mm(i).to_bytes(2, "little") * WIDTH
    if kind == "compressed":
        import cv2
        import numpy as np

        png = cv2.imencode(".png", np.frombuffer(row * HEIGHT, "<u2").reshape(HEIGHT, WIDTH))[1].tobytes()
        return CompressedImage(header(i), "16UC1; compressedDepth png", bytes(12) + png)
    encoding, step = ("rgb8", 3 * WIDTH) if kind == "colour" else ("16UC1", 2 * WIDTH)
    damaged = kind == "damaged" and i % 2
    return Image(header(i), HEIGHT, WIDTH, encoding, 0, step, bytes(7) if damaged else row * HEIGHT)


def topic_of(kind):
    """Name in ROS 2 of the images of a camera."""
    return f"/{kind}/image_raw" + ("/compressedDepth" if kind == "compressed" else "")


def send():
    """Publish as cameras do, frame after frame."""
    joined, writers = join_domain(), {}
    participant = joined.entity
    for kind in KINDS:
        type_, reliability = (CompressedImage, RELIABLE) if kind == "compressed" else (Image, SENSOR)
        writers[kind] = DataWriter(participant, Topic(participant, "rt" + topic_of(kind), type_), quality(reliability))
    calibrated = [kind for kind in KINDS if kind != "uncalibrated"]
    infos = {kind: Topic(participant, f"rt/{kind}/camera_info", CameraInfo) for kind in calibrated}
    info_writers = {kind: DataWriter(participant, topic, quality(RELIABLE)) for kind, topic in infos.items()}
    i = 0
    while not select.select([sys.stdin], [], [], 0.02)[0]:
        for kind, writer in writers.items():
            if writer.get_matched_subscriptions():
                writer.write(image(i, kind))
        for kind, writer in info_writers.items():
            if writer.get_matched_subscriptions():
                writer.write(camera_info(kind))
        i += 1


def receive():
    """Print messages of posepipe: the bytes of each, and the fields of skeletons."""
    participant = join_domain()
    topic = Topic(participant.entity, "rt" + SKELETONS, Skeletons)
    skeletons = DataReader(participant.entity, topic, quality(RELIABLE))
    discovery, raw = Discovery(participant), {}
    while not select.select([sys.stdin], [], [], 0)[0]:
        for found in discovery.publications():
            if found.topic not in raw:
                raw[found.topic] = Subscriber(participant, found)
        for each in skeletons.take(1):
            if isinstance(each, Skeletons):
                print(json.dumps({"skeletons": asdict(each)}), flush=True)
        for name, subscriber in raw.items():
            message = subscriber.take(0)
            if message is not None:
                print(json.dumps({"topic": name, "data": base64.b64encode(message).decode()}), flush=True)
        time.sleep(0.01)


if __name__ == "__main__":
    send() if sys.argv[1] == "send" else receive()
