"""Targets of depth: every format of `posepipe.sources.FORMATS`, and the stream of pipes and sockets."""

from __future__ import annotations

import shutil
from pathlib import Path

import cv2
import numpy as np

from posepipe.body import HUMAN
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import FormatError
from posepipe.evaluation.labelled.labelled_itop import LabelledItop
from posepipe.evaluation.labelled.labelled_pack import LabelledPack
from posepipe.frames import DepthFrame
from posepipe.recording import LiveDepth
from posepipe.sources import open_source
from posepipe.sources.cameras.wire import WireError, WireReader
from posepipe.sources.formats.itop.itop import JOINTS
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from tests.robustness.targets.described import describe
from tests.robustness.targets.target import Target
from tests.support.paths import GOLDEN
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.azure_recordings import NFOV_PARAMETERS, calibration_json, write_azure_recording
from tests.support.recordings.depth_senders import stream_bytes
from tests.support.recordings.itop_files import write_itop
from tests.support.recordings.kinect_dumps import device_json, write_dump
from tests.support.recordings.openni_files import write_oni
from tests.support.toy_person import INTRINSICS, SHAPE, TOY, toy_frames

_READER = "posepipe.recording.containers."
_FORMAT = "posepipe.sources.formats."


def play(path: Path) -> None:
    """Read every frame of a source, and describe it as `posepipe info` does."""
    with open_source(path) as source:
        for _ in source:
            pass
    describe(path)


def play_only(pattern: str = "*"):
    """Play the first file of a folder with this name, or pattern."""
    return lambda folder: play(next(path for path in sorted(folder.glob(pattern)) if path.is_file()))


def _frames() -> list[DepthFrame]:
    return [frame.depth for frame in toy_frames(3)]


def _png_folder(folder: Path) -> None:
    write_png_folder(folder, _frames())
    (folder / "depth.txt").unlink(missing_ok=True)


def _tum_folder(folder: Path) -> None:
    write_png_folder(folder, _frames())
    names = sorted(path.name for path in folder.glob("*.png"))
    lines = [f"{1_300_000_000 + i / 30:.6f} {name}\n" for i, name in enumerate(names)]
    (folder / "depth.txt").write_text("# depth maps\n" + "".join(lines))
    (folder / "rgb").mkdir(exist_ok=True)
    for ending in (".png", ".jpg"):
        cv2.imwrite(str(folder / "rgb" / f"0{ending}"), np.full((12, 16, 3), 90, np.uint8))
    (folder / "rgb.txt").write_text("1300000000.01 rgb/0.png\n1300000000.04 rgb/0.jpg\n")


def _play_tum(folder: Path) -> None:
    with open_source(folder, colour="auto") as source:
        for _ in source:
            pass
    describe(folder)


def _kinect_dump(folder: Path) -> None:
    shutil.rmtree(folder)
    write_dump(folder, np.random.default_rng(1).integers(400, 1000, (3, *SHAPE)).astype(np.uint16))
    for path in [*folder.glob("*.ppm"), *folder.glob("*.dump")]:
        path.unlink()
    plane = {"dcmos_emitter_distance": 7.5, "reference_distance": 120.0, "reference_pixel_size": 0.1}
    (folder / "device.json").write_text(device_json(plane, 200.0))
    write_camera_file(folder / "camera.json", CameraFile(SHAPE[1], SHAPE[0], INTRINSICS, 0.001, 30.0))


def _image_folder(folder: Path) -> None:
    """A folder of each kind of image."""
    depth_mm = np.rint(_frames()[0].depth_m * 1000).astype(np.uint16)
    for kind in ("npy", "pgm", "tiff"):
        place = folder / kind
        place.mkdir()
        write_camera_file(place / "camera.json", CameraFile(SHAPE[1], SHAPE[0], INTRINSICS, 0.001, 30.0))
    np.save(folder / "npy" / "0.npy", depth_mm)
    size = f"P5 {SHAPE[1]} {SHAPE[0]} 65535\n".encode()
    (folder / "pgm" / "0.pgm").write_bytes(size + depth_mm.astype(">u2").tobytes())
    _, content = cv2.imencode(".tiff", depth_mm * np.float32(0.001), [cv2.IMWRITE_TIFF_COMPRESSION, 1])
    (folder / "tiff" / "0.tiff").write_bytes(content.tobytes())


def _play_images(folder: Path) -> None:
    for kind in ("npy", "pgm", "tiff"):
        play(folder / kind)


def _npz_pack(folder: Path) -> None:
    write_npz_pack(folder / "pack.npz", _frames(), 1_700_000_000_000_000_000)


def _labelled_pack(folder: Path) -> None:
    frames = toy_frames(3)
    np.savez_compressed(
        folder / "pack.npz",
        depth_mm=np.rint(np.stack([f.depth.depth_m for f in frames]) * 1000).astype(np.uint16),
        K=np.array([INTRINSICS.fx, INTRINSICS.fy, INTRINSICS.cx, INTRINSICS.cy]),
        people=np.stack([f.people for f in frames]),
        parts=np.stack([f.parts for f in frames]),
        joints_m=np.stack([f.joints_m for f in frames]),
        joint_names=np.array(TOY.joints),
        visible=np.stack([f.visible for f in frames]),
        timestamp_s=np.arange(3) / 30,
        name=np.array(["walk01:0", "walk01:1", "walk02:0"]),
    )


def _read_labelled_pack(folder: Path) -> None:
    pack = LabelledPack(folder / "pack.npz", TOY)
    for index in range(len(pack)):
        pack[index]
    str((pack.content, pack.sequences))


def _itop(folder: Path) -> None:
    rng = np.random.default_rng(2)
    depth_m = np.zeros((2, 240, 320), np.float16)
    depth_m[:, 60:180, 120:200] = 2.5
    ids = np.array([b"05_00000", b"05_00001"])
    labels = {
        "id": ids,
        "is_valid": np.ones(2, np.uint8),
        "visible_joints": np.ones((2, len(JOINTS)), np.int16),
        "real_world_coordinates": rng.uniform(1, 3, (2, len(JOINTS), 3)).astype(np.float16),
        "segmentation": np.where(depth_m > 0, 3, -1).astype(np.int8),
    }
    path = write_itop(folder, {"id": ids, "data": depth_m}, labels)
    _compressed(path, "data")
    _compressed(folder / "ITOP_side_test_labels.h5", "segmentation")


def _compressed(path: Path, name: str) -> None:
    """Store one array in compressed chunks; deflate damages less of a file than a few hundred KB of zeros."""
    import h5py

    with h5py.File(path) as file:
        arrays = {key: file[key][...] for key in file}
    with h5py.File(path, "w") as file:
        for key, array in arrays.items():
            chunks = {"chunks": (1, 60, 80), "compression": "gzip", "shuffle": True} if key == name else {}
            file.create_dataset(key, data=array, **chunks)


def _read_itop(folder: Path) -> None:
    path = folder / "ITOP_side_test_depth_map.h5"
    labelled = LabelledItop(path, HUMAN)
    for index in range(len(labelled)):
        labelled[index]
    play(path)


def _messages() -> list[ros.Message]:
    png = ros.compressed_depth(ros.png(ros.depth_mm(7)))
    rvl = ros.compressed_depth(ros.rvl(ros.depth_mm(7)))
    return [
        *ros.depth_recording(3, colour=False),
        ros.compressed_image(png, topic="/png/image_raw/compressedDepth"),
        ros.camera_info(topic="/png/camera_info", d=(0.1, -0.2, 0.001, 0.001, 0.05)),
        ros.compressed_image(rvl, topic="/rvl/image_raw/compressedDepth", format="16UC1; compressedDepth rvl"),
        ros.camera_info(topic="/rvl/camera_info"),
    ]


def _play_topics(pattern: str):
    """Play every depth stream of a file, or of a folder."""

    def read(folder: Path) -> None:
        path = folder if pattern == "." else next(iter(sorted(folder.glob(pattern))))
        for topic in (ros.DEPTH, "/png/image_raw/compressedDepth", "/rvl/image_raw/compressedDepth"):
            with open_source(path, topic=topic) as source:
                for _ in source:
                    pass
        describe(path)

    return read


def _with_colour(folder: Path) -> None:
    """Depth, and colour raw, as PNG and as JPEG. Chunks of MCAP would hide their bytes from the mutations."""
    messages = ros.depth_recording(2, colour=False)
    raw = ros.image(np.zeros((12, 48), np.uint8), topic="/rgb/image_raw", encoding="rgb8")
    raw.fields["width"] = 16
    messages.append(raw)
    for ending in (".png", ".jpg"):
        picture = cv2.imencode(ending, np.full((12, 16, 3), 90, np.uint8))[1].tobytes()
        messages.append(ros.compressed_image(picture, topic=f"/{ending[1:]}/compressed", format="jpeg"))
    ros.write_mcap(folder / "r.mcap", messages, use_chunking=False)


def _play_colour(folder: Path) -> None:
    for topic in ("/rgb/image_raw", "/png/compressed", "/jpg/compressed"):
        with open_source(folder / "r.mcap", colour=topic) as source:
            for _ in source:
                pass


def _wire(folder: Path) -> None:
    (folder / "stream").write_bytes(stream_bytes(3))


def _read_wire(folder: Path) -> None:
    """Read a stream in pieces of 1000 bytes, as a pipe or a socket delivers it."""
    with (folder / "stream").open("rb") as stream:

        def receive(buffer: memoryview, timeout_s: float) -> int:
            return stream.readinto(buffer[:1000])

        reader = WireReader("camera:test", receive)
        try:
            header = reader.read_header(1.0)
            assert header is not None
            header.intrinsics_or(None, "camera:pipe:-")
            while reader.read(1.0) is not None:
                pass
        except EOFError:
            return
        except WireError as error:
            raise FormatError("camera:test", str(error)) from error


def _live_messages(folder: Path) -> None:
    for name, message in (("image", ros.image(ros.depth_mm(0))), ("camera_info", ros.camera_info(d=(0.1,) * 5))):
        (folder / name).write_bytes(message.serialised(2))


def _read_live_messages(folder: Path) -> None:
    """Read an image and its calibration as ``camera:ros2`` gets them from another program."""
    image = (folder / "image").read_bytes()
    try:
        depth = LiveDepth(ros.DEPTH, "sensor_msgs/Image", image)
        depth.calibrate((folder / "camera_info").read_bytes())
        depth.decode(image)
    except ValueError as error:
        raise FormatError("camera:test", str(error)) from error


def _split_bag(folder: Path) -> None:
    ros.write_db3(folder / "walk_0.db3", ros.depth_recording(2, colour=False))
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information:\n  version: 5\n")


SOURCE_TARGETS = (
    Target("png-folder", _png_folder, play, (_FORMAT + "png_folder", "posepipe.sources.images.depth_png")),
    Target("tum-folder", _tum_folder, _play_tum, (_FORMAT + "tum_folder", "posepipe.io.colour_picture")),
    Target("kinect-dump", _kinect_dump, play, (_FORMAT + "fakenect_dump",)),
    Target("npz-pack", _npz_pack, play_only(), (_FORMAT + "npz_pack", "posepipe.sources")),
    Target("labelled-pack", _labelled_pack, _read_labelled_pack, ("posepipe.evaluation.labelled.labelled_pack",)),
    Target(
        "itop",
        _itop,
        _read_itop,
        (_FORMAT + "itop.itop", "posepipe.evaluation.labelled.labelled_itop"),
        extras=("h5py",),
    ),
    Target(
        "azure-mkv",
        lambda folder: write_azure_recording(
            folder / "k.mkv", np.full((2, 12, 16), 2000, np.uint16), calibration_json(NFOV_PARAMETERS, (16, 12))
        ),
        play_only(),
        (_FORMAT + "azure.azure_mkv", _FORMAT + "azure.azure_calibration"),
        extras=("av",),
    ),
    Target(
        "image-folder",
        _image_folder,
        _play_images,
        (_FORMAT + "image_folder", "posepipe.sources.images.depth_image"),
    ),
    Target(
        "openni",
        lambda folder: write_oni(folder / "a.oni", np.full((2, 12, 16), 2000, np.uint16)),
        play_only(),
        (_FORMAT + "openni_file",),
    ),
    Target(
        "mcap-zstd",
        lambda folder: ros.write_mcap(folder / "r.mcap", _messages(), chunk_size=400),
        _play_topics("*.mcap"),
        (_FORMAT + "recording_file", _READER + "chunked_file", _READER + "mcap_layout"),
    ),
    Target(
        "mcap-unchunked",
        lambda folder: ros.write_mcap(folder / "r.mcap", _messages(), use_chunking=False),
        _play_topics("*.mcap"),
        (),
    ),
    Target("mcap-colour", _with_colour, _play_colour, ()),
    Target(
        "ros1-bag",
        lambda folder: ros.write_bag(folder / "r.bag", _messages(), chunk_bytes=600),
        _play_topics("*.bag"),
        (_FORMAT + "ros1_bag", _READER + "ros1_file"),
    ),
    Target(
        "ros1-bag-lz4",
        lambda folder: ros.write_bag(folder / "r.bag", _messages(), "lz4", chunk_bytes=600),
        _play_topics("*.bag"),
        (),
    ),
    Target(
        "ros1-bag-bz2",
        lambda folder: ros.write_bag(folder / "r.bag", _messages(), "bz2", chunk_bytes=600),
        _play_topics("*.bag"),
        (),
    ),
    Target(
        "realsense-bag",
        lambda folder: shutil.copy(GOLDEN / "realsense_sdk_2_55.bag", folder / "r.bag"),
        play_only(),
        (),
    ),
    Target(
        "ros2-database",
        lambda folder: ros.write_db3(folder / "r.db3", _messages()),
        _play_topics("*.db3"),
        (_READER + "sqlite_file",),
    ),
    Target("ros2-folder", _split_bag, play, (_FORMAT + "ros2_bag",)),
    Target("ros2-messages", _live_messages, _read_live_messages, ("posepipe.sources.cameras.ros2",)),
    Target("wire", _wire, _read_wire, ("posepipe.sources.cameras.pipe", "posepipe.sources.cameras.socket")),
)
