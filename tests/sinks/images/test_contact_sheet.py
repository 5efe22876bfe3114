"""Contact sheets: the person fills the tile, parts have their colours, joints are at their positions."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from posepipe.errors import PosepipeError
from posepipe.sinks.images.contact_sheet import TILE_PX, draw_sheet, draw_tile, person_colour, write_sheet
from posepipe.sinks.images.drawing import part_colours
from tests.support.toy_person import SHAPE, TOY, toy_frame

BEYOND = (70, 52, 44)


def bare(frame):
    """Without joints, which hide what is under them."""
    return replace(frame, joints_m=np.full_like(frame.joints_m, np.nan))


def hues(tile):
    return cv2.cvtColor(tile, cv2.COLOR_BGR2HSV)[..., 0]


def test_the_person_fills_the_tile_but_for_the_margin():
    seen = draw_tile(bare(toy_frame(1)), TOY).any(axis=-1)
    rows = np.nonzero(seen[30:])[0]  # below the frame's number
    assert rows.max() + 30 > 0.85 * TILE_PX
    whole = draw_tile(bare(toy_frame(1)), TOY, whole=True)
    assert (whole == BEYOND).all(axis=-1).mean() == pytest.approx(1 - SHAPE[0] / SHAPE[1], abs=0.03)


def test_parts_have_their_colours_and_depth_alone_is_grey():
    frame = bare(toy_frame(1))
    tile = draw_tile(frame, TOY)
    wanted = {int(hue) for hue in hues(part_colours(TOY)[None, 1:])[0]}
    found = set(np.unique(hues(tile)[tile.max(axis=-1) > 60]).tolist()) - {0}
    assert all(min(abs(hue - other) for other in found) <= 2 for hue in wanted - {0})
    for plain in (draw_tile(frame.depth), draw_tile(frame)):
        spread = np.ptp(plain[20:].astype(int), axis=-1)
        assert (spread[~(plain[20:] == BEYOND).all(axis=-1)] == 0).all()


def test_visible_joints_are_dots_and_hidden_ones_rings():
    frame = toy_frame(2)
    (row, col) = np.rint(frame.depth.intrinsics.project(frame.joints_m[0, 1])).astype(int)
    size = TILE_PX / SHAPE[1]
    row, col = round((row + 0.5 + (SHAPE[1] - SHAPE[0]) / 2) * size), round((col + 0.5) * size)
    for shows in (True, False):
        tile = draw_tile(replace(frame, visible=np.full((1, 4), shows)), TOY, whole=True)
        white = (tile[row - 7 : row + 7, col - 7 : col + 7] > 200).all(axis=-1)
        assert white.any()
        centre_row, centre_col = np.rint(np.mean(np.nonzero(white), axis=1)).astype(int)
        assert white[centre_row, centre_col] == shows


def test_several_people_are_outlined_and_one_is_not():
    frame = bare(toy_frame(3))
    people = frame.people.copy()
    people[:, : int(np.nonzero(people)[1].mean())] *= 2
    two = draw_tile(replace(frame, people=people), TOY)
    alone = draw_tile(frame, TOY)
    for person in (1, 2):
        assert (two == person_colour(person)).all(axis=-1).any()
        assert not (alone == person_colour(person)).all(axis=-1).any()


def test_outside_the_image_differs_from_no_reading():
    frame = bare(toy_frame(1))
    cut = {name: getattr(frame, name)[:20] for name in ("parts", "people")}
    cut["depth"] = replace(frame.depth, depth_m=frame.depth.depth_m[:20])
    tile = draw_tile(replace(frame, **cut), TOY)
    assert (tile[-1] == BEYOND).all()
    assert not (tile[TILE_PX // 2] == BEYOND).all(axis=-1).all()


def test_frames_without_people_have_tiles():
    frame = toy_frame(1)
    nothing = replace(frame.depth, depth_m=np.zeros(SHAPE, np.float32))
    empty = replace(frame, depth=nothing, parts=frame.parts * 0, people=frame.people * 0)
    empty = replace(empty, joints_m=empty.joints_m[:0], visible=empty.visible[:0])
    for tile in (draw_tile(empty, TOY), draw_tile(nothing)):
        assert tile.shape == (TILE_PX, TILE_PX, 3)


def test_a_sheet_has_room_for_every_tile_and_the_title():
    tiles = [np.full((TILE_PX, TILE_PX, 3), 50 + k, np.uint8) for k in range(11)]
    sheet = draw_sheet(tiles, "a title of many words: " * 9)
    assert all((sheet[..., 0] == 50 + k).sum() >= TILE_PX**2 for k in range(11))
    assert sheet.shape[1] // TILE_PX == 4
    assert (sheet[:36, -100:] > 100).any()  # the title is fitted: it ends near the right border, and not beyond
    assert not (sheet[:36, -5:] > 100).any()


def test_a_sheet_is_written_or_the_error_names_the_path(tmp_path):
    sheet = draw_sheet([draw_tile(toy_frame(1), TOY)], "one")
    write_sheet(tmp_path / "new" / "sheet.png", sheet)
    np.testing.assert_array_equal(cv2.imread(str(tmp_path / "new" / "sheet.png")), sheet)
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match="file"):
        write_sheet(tmp_path / "file" / "sheet.png", sheet)
