"""Documents and docstrings: every command parses, every Python example runs, every link leads somewhere."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
import shutil

import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import COMMANDS, build_parser, command_module
from posepipe import sources
from posepipe.body import HUMAN
from posepipe.camera import Extrinsics
from posepipe.errors import FormatError
from posepipe.sources.conversion import convert_frames
from posepipe.sources.formats.png_folder import write_png_folder
from posepipe.sources.playback import SlicedSource
from tests.support.paths import ROOT

CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
EXAMPLE_ROWS = (20, 40)
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "models").glob("*.md")])


def commands():
    lines = [
        line
        for page in PAGES
        for block in re.findall(r"```sh\n(.*?)```", page.read_text(), re.DOTALL)
        for line in re.sub(r"\\\n\s*", " ", block).splitlines()
    ]
    lines += [line for name in COMMANDS for line in command_module(name).EXAMPLES]
    steps = [step.strip() for line in lines for step in re.split(r"&&|\|", line.split("#")[0])]
    return sorted({step for step in steps if step.startswith("posepipe ")})


def test_every_documented_command_parses(capsys):
    parser, refused = build_parser(), []
    for command in commands():
        try:
            parser.parse_args(shlex.split(command)[1:])
        except SystemExit:
            refused.append(f"{command}: {capsys.readouterr().err.splitlines()[-1]}")
    assert not refused, "\n".join(refused)


def test_every_pose_of_a_camera_in_the_documents_is_read():
    blocks = [block for page in PAGES for block in re.findall(r"```json\n(.*?)```", page.read_text(), re.DOTALL)]
    poses = [json.loads(block)["T_world_camera"] for block in blocks if "T_world_camera" in block]
    assert poses
    for pose in poses:
        Extrinsics.of_matrix(pose)


def python_examples():
    return [
        pytest.param(code, id=f"{page.name}-{i}")
        for page in PAGES
        for i, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
    ]


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """A few frames of the shipped recording, as the folder of PNGs that the documents name."""
    folder = tmp_path_factory.mktemp("docs") / "frames"
    with sources.open_source(RECORDING) as recording:
        write_png_folder(folder, [recording[row] for row in EXAMPLE_ROWS])
    return folder


@pytest.mark.parametrize("code", python_examples())
def test_every_python_example_runs_and_prints(code, frames, tmp_path, monkeypatch, capsys):
    shutil.copytree(frames, tmp_path / "frames")
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})
    assert capsys.readouterr().out or code in CONTRIBUTING  # its class is run below


def test_the_format_that_contributing_adds_plays_like_any_other(tmp_path, monkeypatch):
    code, line = re.search(r"```python\n(.*?)```.*?`(SourceFormat\(.*?\))`", CONTRIBUTING, re.DOTALL).groups()
    names = {"SourceFormat": sources.SourceFormat}
    exec(code, names)
    monkeypatch.setattr(sources, "FORMATS", (*sources.FORMATS, eval(line, names)))
    depth_mm = np.random.default_rng(0).integers(500, 5000, (2, 240, 320))
    path = tmp_path / "film.numbers"
    path.write_text("\n".join(" ".join(map(str, frame.ravel())) for frame in depth_mm) + "\n1 2 3\n")
    with sources.open_source(path) as source:
        np.testing.assert_array_equal(np.rint(source[1].depth_m * 1000), depth_mm[1])
        assert source.frame_count == 3
        with pytest.raises(FormatError, match="line 3: wanted 320x240 numbers"):
            list(source)
    assert convert_frames(SlicedSource(sources.open_source(path), 0, 0.04), tmp_path / "film.mcap") == 2


def transcripts():
    """Pages whose examples show what they print."""
    return [page for page in PAGES if "```pycon" in page.read_text()]


@pytest.mark.parametrize("page", transcripts(), ids=lambda page: page.name)
def test_every_transcript_prints_what_it_says(page):
    text = "\n".join(re.findall(r"```pycon\n(.*?)```", page.read_text(), re.DOTALL))
    transcript = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    complaints: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(transcript, out=complaints.append)
    assert not complaints, "".join(complaints)


def exported():
    """Names that a user imports, as package and name; a name that two packages export is one object."""
    packages = [importlib.import_module(name) for name in ("posepipe", "posepipe.learn")]
    homes = {name: package.__name__ for package in reversed(packages) for name in package.__all__}
    return [pytest.param(package, name, id=f"{package}.{name}") for name, package in sorted(homes.items())]


@pytest.mark.parametrize(("package", "name"), exported())
def test_every_exported_name_has_an_example_that_runs(package, name, tmp_path, monkeypatch):
    thing = getattr(importlib.import_module(package), name)
    monkeypatch.chdir(tmp_path)
    tests = doctest.DocTestFinder(recurse=True).find(thing, name, globs={})
    assert sum(len(test.examples) for test in tests) > 0, f"{package}.{name} has no Examples in its docstring"
    complaints: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    for test in tests:
        runner.run(test, out=complaints.append)
    assert not complaints, "".join(complaints)


def test_every_link_inside_the_project_leads_somewhere():
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)#]+)", page.read_text())]
    broken = [f"{page.name}: {link}" for page, link in links if "://" not in link and not (page.parent / link).exists()]
    assert not broken, "\n".join(broken)


def test_every_file_of_the_project_that_a_page_names_is_there():
    folders = "apps|benchmarks|docs|models|posepipe|synth|tests"
    named = [
        (page, path)
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for path in re.findall(rf"`((?:{folders})/[\w./-]+)`", page.read_text())
        if "my_" not in path  # what a reader is told to write
    ]
    assert named
    gone = [f"{page.name}: {path}" for page, path in named if not (ROOT / path).exists()]
    assert not gone, "\n".join(gone)


def test_the_table_of_other_trackers_has_all_our_joints():
    text = (ROOT / "docs" / "guides" / "coming-from.md").read_text()
    table = text.partition("## Joints")[2].partition("## Axes")[0]
    firsts = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert sorted(name for cell in firsts for name in re.findall("`(.*?)`", cell)) == sorted(HUMAN.joints)
