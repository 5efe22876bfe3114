"""Models by name or by path."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from posepipe.errors import PosepipeError
from posepipe.models import registry as models


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder of two shipped models, and their cards."""
    folder = tmp_path / "shipped"
    folder.mkdir()
    for name in ("person.npz", "hand.npz", "person.md"):
        (folder / name).write_bytes(name.encode())
    monkeypatch.setattr(models, "models_dir", lambda: folder)
    monkeypatch.chdir(tmp_path)
    return folder


def test_models_are_named_after_their_files(shipped):
    assert models.model_names() == ("hand", "person")


def test_a_name_finds_the_shipped_model(shipped):
    assert models.model_path("person") == shipped / "person.npz"


def test_a_path_finds_any_file(shipped, tmp_path):
    (tmp_path / "mine.npz").write_bytes(b"")
    assert models.model_path("mine.npz").samefile(tmp_path / "mine.npz")
    assert models.model_path(tmp_path / "mine.npz") == tmp_path / "mine.npz"


def test_a_shipped_name_wins_over_a_file_of_that_name(shipped, tmp_path):
    (tmp_path / "person").write_bytes(b"")
    assert models.model_path("person") == shipped / "person.npz"


@pytest.mark.parametrize("model", ["dog", "", ".", "missing.npz", "../shipped", "person.npz.npz"])
def test_what_is_neither_name_nor_file_is_refused_with_the_names(shipped, model):
    with pytest.raises(PosepipeError, match="hand, person"):
        models.model_path(model)


def test_the_identity_tells_name_and_answers(tmp_path):
    def identity(name="person", leaf=1.0, **header):
        text = np.frombuffer(json.dumps({"format": "posepipe-forest", **header}).encode(), np.uint8)
        np.savez(tmp_path / f"{name}.npz", header=text, leaves_0=np.array([leaf]))
        return models.model_identity(tmp_path / f"{name}.npz")

    own = identity()
    assert re.fullmatch("person sha256:[0-9a-f]{12}", own)
    assert identity(figures={"five people": {}}, seconds=2.5) == own
    assert identity(name="dog") == own.replace("person", "dog")
    assert identity(leaf=2.0) != own
    assert identity(body="dog") != own


def test_the_folder_of_shipped_models_is_there():
    assert models.models_dir().is_dir()
