"""Commands over a cluster write what they write on one machine."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="needs the extra `cluster`")

from apps.cli import main
from posepipe.cluster.address import parse_address
from posepipe.cluster.cluster import open_cluster
from synth import dataset_writer


@pytest.fixture(scope="module")
def shared_cluster():
    with open_cluster(parse_address("local:2")) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def commands_share_the_cluster(shared_cluster, monkeypatch):
    monkeypatch.setattr("posepipe.cluster.cluster.open_cluster", lambda address: nullcontext(shared_cluster))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_writer, "RECORDING_FRAMES", 6)
        assert main(["synth", str(folder), "--frames", "12", "--seed", "8", "--workers", "1"]) == 0
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_synth_renders_the_same_bytes(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_writer, "RECORDING_FRAMES", 6)
    words = ["synth", str(tmp_path / "data"), "--frames", "12", "--seed", "8", "--cluster", "local:2"]
    assert main(words) == 0
    assert contents(tmp_path / "data") == contents(dataset)
