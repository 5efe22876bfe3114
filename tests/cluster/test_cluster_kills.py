"""Training on a cluster, as commands: kills of workers and of the whole, and TLS by the words of the guide."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra `cluster`")
if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)

from tests.support.commands import WAIT_S, Command, done, free_port, rounds, start
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow
GUIDE = (ROOT / "docs" / "guides" / "cluster.md").read_text()
SMALL = ["--trees", 1, "--max-depth", 10, "--candidates", 60, "--joint-frames", 10, "--vote-frames", 10]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster") / "data"
    assert done("synth", folder, "--frames", 120, "--seed", 8).process.returncode == 0
    return folder


@pytest.fixture(scope="module")
def whole(data):
    """Arrays of the model that one process trains."""
    file = data.parent / "whole" / "m.npz"
    trained = done("train", data, *SMALL, "--out", file)
    assert trained.process.returncode == 0, trained.said()
    return arrays(file)


def arrays(model: Path) -> dict[str, bytes]:
    """Content of a model but for its header, which tells the command."""
    with np.load(model) as stored:
        return {name: stored[name].tobytes() for name in stored.files if name != "header"}


def kill_someone(command: Command, rng: random.Random) -> None:
    """Kill a worker, or the command with all of its processes."""
    others = [pid for pid in command.family() if pid != command.process.pid]
    if others and rng.random() < 0.6:
        try:
            os.kill(rng.choice(others), signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        command.send(signal.SIGKILL, to_all=True)
        command.process.wait()


def test_kills_of_workers_and_of_the_whole_change_no_byte(data, whole, tmp_path):
    rng, kills, ended = random.Random(20), 0, 0
    file = tmp_path / "killed" / "m.npz"
    words = ["train", data, *SMALL, "--cluster", "local:2", "--resume", "--out", file]
    command = start(*words)
    while kills < rounds(20) or not ended:
        try:
            command.process.wait(timeout=rng.uniform(2, 9) if kills < rounds(20) else 10 * WAIT_S)
        except subprocess.TimeoutExpired:
            kill_someone(command, rng)
            kills += 1
        if command.process.poll() is None:
            continue
        if command.process.returncode == 0:
            ended += 1
            assert arrays(file) == whole
            shutil.rmtree(file.parent)
        else:
            assert command.process.returncode == -signal.SIGKILL, command.said()
        if kills < rounds(20) or not ended:
            command = start(*words)


def example(word: str, kind: str) -> str:
    """The example of the guide that has a word in it."""
    return next(code for code in re.findall(rf"```{kind}\n(.*?)```", GUIDE, re.DOTALL) if word in code)


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl")
def test_a_cluster_of_tls_by_the_guide_grows_the_same_trees(data, whole, tmp_path):
    home, port = tmp_path / "me", free_port()
    home.mkdir()
    about = {**os.environ, "HOME": str(home), "DASK_CONFIG": str(home / "dask"), "PYTHONPATH": str(ROOT)}
    subprocess.run(["bash", "-euc", example("openssl", "sh")], env=about, check=True, capture_output=True)
    (home / "dask").mkdir()
    (home / "dask" / "tls.yaml").write_text(example("require-encryption", "yaml").replace("/home/me", str(home)))
    scheduler, worker = re.findall(r"^dask .*?(?=\s+#|$)", example("dask scheduler", "sh"), re.MULTILINE)
    address = f"tls://127.0.0.1:{port}"
    worker = worker.replace("tls://head:8786", address).replace("--nworkers 16", "--nworkers 2")
    with ExitStack() as stack:
        for words in (f"{scheduler} --host 127.0.0.1 --port {port}", worker):
            arguments = [sys.executable, "-m", "distributed.cli.dask_" + words.split()[1], *words.split()[2:]]
            process = subprocess.Popen(
                arguments, env=about, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True
            )
            stack.callback(end, process)
        wait_for(port)
        file = tmp_path / "there" / "m.npz"
        trained = done("train", data, *SMALL, "--cluster", address, "--out", file, env=about)
        assert trained.process.returncode == 0, trained.said()
        assert arrays(file) == whole
        plain = {name: value for name, value in about.items() if name != "DASK_CONFIG"} | {"HOME": str(tmp_path)}
        refused = done("train", data, *SMALL, "--cluster", address, "--out", tmp_path / "refused.npz", env=plain)
        assert refused.process.returncode == 1, refused.said()
        assert f"{address} wants a certificate" in refused.lines()[-1]
        assert "Traceback" not in refused.said()


def wait_for(port: int) -> None:
    until = time.monotonic() + WAIT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.1)


def end(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=WAIT_S)
