"""Cameras whose people never coincide are warned of once; people of one camera alone tell nothing."""

from __future__ import annotations

import numpy as np
import pytest

from apps.running.common_view_check import JUDGED_FRAMES, CommonViewCheck
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult

FRAME = DepthFrame(np.full((2, 2), 2.0, np.float32), Intrinsics(2.0, 2.0, 0.5, 0.5))
NOTHING = np.zeros((2, 2), bool)


def play(*seen_by: tuple[tuple[int, ...], ...]) -> None:
    check = CommonViewCheck()
    for cameras in seen_by:
        check.write(FrameResult(FRAME, NOTHING, NOTHING.astype(np.uint8), (), seen_by=cameras))


@pytest.mark.parametrize("apart", [((1,), (2,)), ((3,), (1,), (1,))])
def test_people_who_never_coincide_are_told_once(caplog, apart):
    play(*[apart] * (JUDGED_FRAMES - 1))
    assert not caplog.messages
    play(*[apart] * 3 * JUDGED_FRAMES)
    assert len(caplog.messages) == 1
    assert "nobody is seen by two of them; are the files of --extrinsics in the order of the sources" in caplog.text


@pytest.mark.parametrize("seen_by", [((1, 2), (2,)), ((1,), (1,)), ((2,),), ()])
def test_other_views_are_not_told_of(caplog, seen_by):
    play(*[seen_by] * 2 * JUDGED_FRAMES)
    play(((1, 2),), *[((1,), (2,))] * 2 * JUDGED_FRAMES)
    assert not caplog.messages
