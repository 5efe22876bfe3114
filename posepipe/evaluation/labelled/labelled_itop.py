"""ITOP's frames as labelled frames of a body."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.frames import LabelledFrame
from posepipe.io.files import disk_errors, open_regular
from posepipe.sources.formats.itop.itop import JOINTS, ItopDepthMap, read_itop_labels


class LabelledItop:
    """Valid frames of one file of ITOP; people are segmented by the labels of the file.

    docs/reference/formats.md describes the files.

    Parameters
    ----------
    path : the file of depth maps, beside that of the labels
    body : BodyDefinition

    Raises
    ------
    FormatError
        When the labels are missing, damaged or of other frames, or share no joint with the body.
    """

    source_revision = ""  # not made by posepipe
    has_parts = False

    def __init__(self, path: str | Path, body: BodyDefinition) -> None:
        self.body = body
        self.recipe: dict = {}
        self.name = str(path)
        self._depth = ItopDepthMap(path)
        self._labels = read_itop_labels(path)
        self._check_labels()
        self._rows = np.flatnonzero(self._labels.valid)
        self._columns = {body.joint_index(joint): k for k, joint in enumerate(JOINTS) if joint in body.joints}
        if not self._columns:
            raise FormatError(path, f"the body {body.name!r} has none of ITOP's joints: {', '.join(JOINTS)}")

    @cached_property
    def content(self) -> str:
        """Identifies the frames: a hash of both files."""
        hashes = []
        for path in (self._depth.path, self._labels.path):
            with open_regular(path) as stream, disk_errors(path):
                hashes.append(hashlib.file_digest(stream, "sha256").hexdigest())
        return " ".join(hashes) + "\n"

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> LabelledFrame:
        row = int(self._rows[index])
        depth = self._depth[row]
        joints_m = np.full((1, len(self.body.joints), 3), np.nan, np.float32)
        visible = np.zeros(joints_m.shape[:2], bool)
        joints, columns = list(self._columns), list(self._columns.values())
        joints_m[0, joints] = self._labels.joints_m[row, columns]
        visible[0, joints] = self._labels.visible[row, columns]
        people = self._labels.person(row).astype(np.uint8)
        return LabelledFrame(depth, np.zeros_like(people), people, joints_m, visible)

    def _check_labels(self) -> None:
        frames, labels = len(self._depth), len(self._labels.valid)
        if frames != labels:
            raise FormatError(self._labels.path, f"labels of {labels} frames, {self._depth.path} holds {frames}")
        own_ids, label_ids = self._depth.ids, self._labels.ids
        if own_ids is not None and label_ids is not None and not np.array_equal(own_ids, label_ids):
            raise FormatError(self._labels.path, f"labels of other frames than those in {self._depth.path}: ids differ")
        if not self._labels.valid.any():
            raise FormatError(self._labels.path, "is_valid: no frame is valid, so there is nothing to score")
