"""Acclaim files: CMU's conventions by eye, finding a skeleton, and what is said of damage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posepipe.errors import FormatError
from synth.motion.mocap.asf_amc import find_asf, read_amc

ASF = """# comment
:version 1.10
:name NOBODY
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
   whatever: begin, end (1 2)
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     id 1
     name thigh
     direction 0 -1 0
     length 4
     axis 0 0 20  XYZ
    dof rx ry rz
    limits (-160.0 20.0)
           (-70.0 70.0)
           (-60.0 70.0)
  end
  begin
     id 2
     name wrist
     direction -1 0 0
     length 2
     axis 0 -90 -90   XYZ
    dof ry
    limits (-180.0 0.0)
  end
:hierarchy
  begin
    root thigh
    thigh wrist
  end
"""
AMC = """#!OML:ASF subject
:FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 0 0 0
thigh 0 0 0
wrist 0
2
root 1 2 3 0 0 0
thigh 0 0 0
wrist 0
"""


def read(folder, asf=ASF, amc=AMC):
    (folder / "07.asf").write_text(asf)
    (folder / "07_01.amc").write_text(amc)
    return read_amc(folder / "07_01.amc")


def test_bones_begin_where_the_one_before_ends(tmp_path):
    capture = read(tmp_path)
    assert capture.joints == ("root", "thigh", "wrist", "wrist end")
    assert capture.clip == "07_01"
    np.testing.assert_array_equal(capture.parents, [-1, 0, 1, 2])
    places = capture.places(capture.rotations)[0]
    np.testing.assert_allclose(places, [[0, 0, 0], [0, 0, 0], [0, -4, 0], [-2, -4, 0]], atol=1e-9)


def test_cmu_s_wrist_turns_about_its_own_length(tmp_path):
    """`axis 0 -90 -90` with `dof ry` means the bone's length only when the axes are fixed, x first."""
    capture = read(tmp_path, amc=AMC.replace("wrist 0", "wrist -70"))
    turn = Rotation.from_quat(capture.rotations[0, 2])
    np.testing.assert_allclose(turn.as_rotvec(degrees=True), [-70, 0, 0], atol=1e-6)


@given(st.lists(st.floats(-180, 180), min_size=6, max_size=6))
def test_angles_are_about_fixed_axes_the_first_listed_first(tmp_path_factory, angles):
    values = " ".join(map(repr, angles[:3])), " ".join(map(repr, angles[3:]))
    amc = AMC.replace("3 0 0 0", f"3 {values[0]}").replace("thigh 0 0 0", f"thigh {values[1]}")
    capture = read(tmp_path_factory.mktemp("amc"), amc=amc)
    root = Rotation.from_euler("xyz", angles[:3], degrees=True)
    own = Rotation.from_euler("z", 20, degrees=True)
    thigh = root * own * Rotation.from_euler("xyz", angles[3:], degrees=True) * own.inv()
    for joint, expected in ((0, root), (1, thigh)):
        assert (Rotation.from_quat(capture.rotations[0, joint]) * expected.inv()).magnitude() < 1e-9


def test_radians_are_read_as_either_file_says(tmp_path):
    quarter = AMC.replace("wrist 0", f"wrist {np.pi / 2!r}").replace(":DEGREES\n", "")
    pairs = [
        (ASF.replace("angle deg", "angle rad"), quarter),
        (ASF, ":RADIANS\n" + quarter),
        (ASF.replace("angle deg", "angle rad"), ":DEGREES\n" + AMC.replace("wrist 0", "wrist 90")),
    ]
    for asf, amc in pairs:
        turn = Rotation.from_quat(read(tmp_path, asf, amc).rotations[0, 2])
        np.testing.assert_allclose(turn.as_rotvec(degrees=True), [90, 0, 0], atol=1e-6)


def test_the_root_s_own_orientation_comes_first(tmp_path):
    capture = read(tmp_path, ASF.replace("orientation 0 0 0", "orientation 0 90 0"), AMC.replace("3 0 0 0", "3 90 0 0"))
    expected = Rotation.from_euler("x", 90, degrees=True) * Rotation.from_euler("y", 90, degrees=True)
    assert (Rotation.from_quat(capture.rotations[0, 0]) * expected.inv()).magnitude() < 1e-9


def test_lengths_and_places_among_the_channels_are_passed_over(tmp_path):
    asf = ASF.replace("dof ry\n", "dof tx ry l\n")
    capture = read(tmp_path, asf, AMC.replace("wrist 0", "wrist 5 -70 6"))
    np.testing.assert_allclose(Rotation.from_quat(capture.rotations[0, 2]).magnitude(), np.radians(70))


def test_ten_of_120_frames_are_sampled(tmp_path):
    frame = AMC.split("1\n", 1)[1].split("2\n")[0]
    amc = ":DEGREES\n" + "".join(f"{index + 1}\n{frame}" for index in range(120))
    capture = read(tmp_path, amc=amc)
    assert (len(capture.rotations), capture.fps) == (10, 10)


def test_a_motion_finds_its_subject_s_skeleton(tmp_path):
    motion = tmp_path / "07_01.amc"
    with pytest.raises(FormatError, match=r"wanted its skeleton 07\.asf in the same folder, found none"):
        find_asf(motion)
    (tmp_path / "other.ASF").touch()
    assert find_asf(motion).name == "other.ASF"  # the only one there
    (tmp_path / "08.asf").touch()
    with pytest.raises(FormatError, match=r"found 08\.asf, other\.ASF"):
        find_asf(motion)
    for name in ("07.asf", "07_01.asf"):
        (tmp_path / name).touch()
        assert find_asf(motion).name == name
    assert find_asf(tmp_path / "07_02.amc").name == "07.asf"


BROKEN_ASF = {
    "no bones": (":bonedata", ":bones", "", ":bonedata"),
    "cut": (ASF[ASF.index(":hierarchy") :], "", "", ":hierarchy"),
    "unknown channel": ("dof rx ry", "dof rx rw", ", line 22", "unknown channel 'rw'"),
    "direction of two": ("direction 0 -1 0", "direction 0 -1", ", line 19", "wanted 3 numbers"),
    "length of words": ("length 4", "length long", ", line 20", "wanted numbers"),
    "endless length": ("length 4", "length inf", ", line 20", "finite"),
    "no length": ("     length 4\n", "", ", line 25", "without its name, direction or length"),
    "odd axes": ("20  XYZ", "20  XXZ", ", line 21", "an order like XYZ"),
    "bone without end": ("(-180.0 0.0)\n  end", "(-180.0 0.0)", ", line 34", "no end"),
    "bone without begin": ("begin\n     id 1", "     id 1", ", line 16", "wanted begin"),
    "unknown child": ("thigh wrist", "thigh hand", ", line 39", "bone 'hand' has no :bonedata"),
    "lost bone": ("    thigh wrist\n", "", "", "does not lead from root to wrist"),
}
BROKEN_AMC = {
    "no frames": (AMC[AMC.index("1\n") :], "", "", "there are none"),
    "unknown bone": ("thigh 0 0 0", "knee 0 0 0", ", line 6", "bone 'knee'"),
    "bone twice": ("wrist 0", "thigh 0 0 0", ", line 7", "given twice"),
    "too few values": ("thigh 0 0 0", "thigh 0 0", ", line 6", "wanted 3 numbers of thigh"),
    "not a number": ("thigh 0 0 0", "thigh 0 nan 0", ", line 6", "finite"),
    "wild angle": ("wrist 0", "wrist 99999", ", line 7", "hundred times"),
    "missing bone": ("wrist 0\n2", "2", ", line 10", "frame 2 ends here with 3 bones, the first has 2"),
    "cut in the middle": ("2\nroot 1 2 3 0 0 0\nthigh 0 0 0\nwrist 0\n", "2\nroot 1 2", ", line 9", "is the file cut?"),
    "cut in the last line": (
        "2\nroot 1 2 3 0 0 0\nthigh 0 0 0\nwrist 0\n",
        "2\nroot 1 2 3 0 0 0\nthigh 0 0",
        "",
        "cut",
    ),
}


@pytest.mark.parametrize(("old", "new", "place", "said"), BROKEN_ASF.values(), ids=BROKEN_ASF)
def test_damage_to_a_skeleton_is_one_line(tmp_path, old, new, place, said):
    assert old in ASF
    with pytest.raises(FormatError, match=rf"07\.asf{place}: .*{said}"):
        read(tmp_path, asf=ASF.replace(old, new, 1))


@pytest.mark.parametrize(("old", "new", "place", "said"), BROKEN_AMC.values(), ids=BROKEN_AMC)
def test_damage_to_a_motion_is_one_line(tmp_path, old, new, place, said):
    assert old in AMC
    with pytest.raises(FormatError, match=rf"07_01\.amc{place}.*: .*{said}"):
        read(tmp_path, amc=AMC.replace(old, new, 1))


@given(st.integers(0, len(AMC) - 1), st.integers(0, len(ASF) - 1), st.booleans())
def test_files_cut_anywhere_are_refused_or_whole(tmp_path_factory, amc_length, asf_length, cut_motion):
    folder = tmp_path_factory.mktemp("amc")
    try:
        capture = read(folder, amc=AMC[:amc_length]) if cut_motion else read(folder, ASF[:asf_length])
    except FormatError:
        return
    assert capture.joints == ("root", "thigh", "wrist", "wrist end")
