"""BVH files: what stands in them, by eye; and what is said of those that are cut or damaged."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posepipe.errors import FormatError
from synth.motion.mocap.bvh import read_bvh

ARM = """HIERARCHY
ROOT Shoulder
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Elbow
  {
    OFFSET 3 0 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 2 0 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.1
9 9 9 0 0 0 0 0 0
9 9 9 90 0 0 90 0 0
"""


def read(folder, text, name="arm.bvh"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_bvh(path)


def test_an_arm_is_raised_and_bent(tmp_path):
    capture = read(tmp_path, ARM)
    assert capture.joints == ("Shoulder", "Elbow", "Elbow end")
    assert capture.clip == "arm"
    np.testing.assert_array_equal(capture.parents, [-1, 0, 1])
    straight, bent = capture.places(capture.rotations)
    np.testing.assert_allclose(straight, [[0, 0, 0], [3, 0, 0], [5, 0, 0]], atol=1e-12)
    np.testing.assert_allclose(bent, [[0, 0, 0], [0, 3, 0], [-2, 3, 0]], atol=1e-12)


@given(st.permutations("XYZ"), st.integers(0, 3), st.lists(st.floats(-720, 720), min_size=3, max_size=3))
def test_channels_turn_in_the_order_in_which_they_are_listed(tmp_path_factory, order, count, angles):
    order, angles = "".join(order[:count]), angles[:count]
    channels = f"CHANNELS {count} {' '.join(f'{axis}rotation' for axis in order)}"
    text = ARM.replace("CHANNELS 3 Zrotation Xrotation Yrotation", channels).split("Frames")[0]
    row = " ".join(map(repr, [0.0] * 6 + angles))
    capture = read(tmp_path_factory.mktemp("bvh"), f"{text}Frames: 1\nFrame Time: 0.1\n{row}\n")
    expected = Rotation.from_euler(order, angles, degrees=True) if count else Rotation.identity()
    turned = Rotation.from_quat(capture.rotations[0, 1]) * expected.inv()
    assert np.degrees(turned.magnitude()) < 1e-6


def test_layout_does_not_matter(tmp_path):
    expected = read(tmp_path, ARM)
    spellings = {
        "windows.bvh": ARM.replace("\n", "\r\n"),
        "marked.bvh": b"\xef\xbb\xbf" + ARM.encode(),
        "narrow.bvh": ARM.replace("\n  {", " {").replace("\n    {\n      OFFSET 2 0 0\n    }", " { OFFSET 2 0 0 }"),
        "joined.bvh": ARM.replace("0 0 0\n  CHANNELS", "0 0 0 CHANNELS"),
        "loud.bvh": ARM.upper().replace("SHOULDER", "Shoulder").replace("ELBOW", "Elbow"),
        "spaced.bvh": ARM.replace("\n", "\n\n").replace("Frames: 2", "Frames:\t2"),
    }
    for name, text in spellings.items():
        capture = read(tmp_path, text, name)
        assert capture.joints == expected.joints, name
        np.testing.assert_array_equal(capture.rotations, expected.rotations)


def test_names_may_have_spaces(tmp_path):
    assert read(tmp_path, ARM.replace("Elbow", "Bip01 L Forearm")).joints[1:] == (
        "Bip01 L Forearm",
        "Bip01 L Forearm end",
    )


@pytest.mark.parametrize(("fps", "sampled"), [(120, 20), (30, 80), (10, 240), (5, 240)])
def test_about_ten_frames_a_second_are_sampled(tmp_path, fps, sampled):
    rows = "9 9 9 0 0 0 0 0 0\n" * 240
    text = ARM.split("Frames")[0] + f"Frames: 240\nFrame Time: {1 / fps:.6f}\n{rows}"
    capture = read(tmp_path, text)
    assert len(capture.rotations) == sampled
    assert capture.fps == pytest.approx(fps * sampled / 240, rel=1e-3)


BROKEN = {
    "not at all": ("HIERARCHY", "VERTICES", 1, "begins with HIERARCHY"),
    "no root": ("ROOT Shoulder", "JOINT Shoulder", 2, "one ROOT"),
    "two people": ("JOINT Elbow", "ROOT Other", 6, "one ROOT"),
    "unknown channel": ("3 Zrotation", "3 Wrotation", 9, "unknown channel 'WROTATION'"),
    "too few channels": ("CHANNELS 3 Z", "CHANNELS 4 Z", 9, "their number and as many names"),
    "no number of channels": ("CHANNELS 3 Z", "CHANNELS Z", 9, "their number and as many names"),
    "offset of two": ("OFFSET 3 0 0", "OFFSET 3 0", 8, "wanted 3 numbers"),
    "offset of words": ("OFFSET 3 0 0", "OFFSET 3 0 far", 8, "wanted numbers"),
    "no offset": ("    OFFSET 3 0 0\n", "", 6, "Elbow has no OFFSET"),
    "brace left open": ("\n}\nMOTION", "\nMOTION", 15, "closed braces"),
    "brace too many": ("}\nMOTION", "}\n}\nMOTION", 16, "wanted a joint"),
    "no motion": ("MOTION\n", "", 16, "wanted a joint"),
    "no frames": ("Frames: 2\n", "", 17, "wanted Frames:"),
    "no frame at all": ("Frames: 2", "Frames: 0", 17, "above 0"),
    "no time": ("Time: 0.1", "Time: 0", 18, "above 0"),
    "more frames than rows": ("Frames: 2", "Frames: 3", 20, "wanted 3 frames, got 2"),
    "fewer frames than rows": ("Frames: 2", "Frames: 1", 20, "wanted 1 frames, got 2"),
    "short row": ("90 0 0 90 0 0", "90 0 0 90 0", 20, "wanted 9 numbers"),
    "long row": ("9 9 9 0 0 0 0 0 0", "9 9 9 0 0 0 0 0 0 0", 19, "wanted 9 numbers"),
    "not a number": ("90 0 0 90 0 0", "90 0 0 90 nan 0", 20, "finite"),
    "infinite": ("9 9 9 0 0 0 0 0 0", "9 9 9 0 inf 0 0 0 0", 19, "finite"),
    "wild angle": ("90 0 0 90 0 0", "90 0 0 9e9 0 0", 20, "Elbow: no joint turns a hundred times"),
}


@pytest.mark.parametrize(("old", "new", "line", "said"), BROKEN.values(), ids=BROKEN)
def test_damage_is_one_line_that_names_file_and_line(tmp_path, old, new, line, said):
    assert old in ARM
    with pytest.raises(FormatError, match=rf"arm\.bvh, line {line}: .*{said}") as caught:
        read(tmp_path, ARM.replace(old, new, 1))
    assert "\n" not in str(caught.value)


@given(st.integers(0, len(ARM) - 1))
def test_a_file_cut_anywhere_is_refused_or_whole(tmp_path_factory, length):
    folder = tmp_path_factory.mktemp("bvh")
    if length < len(ARM) - 1:
        with pytest.raises(FormatError, match=r"arm\.bvh, line"):
            read(folder, ARM[:length])
    else:
        assert len(read(folder, ARM[:length]).rotations) == 2


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_random_bytes_are_refused(tmp_path_factory, content):
    with pytest.raises(FormatError, match=r"arm\.bvh"):
        read(tmp_path_factory.mktemp("bvh"), content)
