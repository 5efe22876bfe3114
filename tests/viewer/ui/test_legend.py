"""The legend names the colours that the scene has."""

from posepipe.body import HUMAN
from posepipe.viewer.scene.palette import Palette
from posepipe.viewer.ui.legend import legend_html


def rgb(colour):
    return f"rgb({','.join(str(int(value)) for value in colour)})"


def test_sides_and_parts_have_their_colours():
    palette = Palette.of(HUMAN)
    html = legend_html(HUMAN, palette, has_depth=True)
    for side, joint in (("their left", "left_hand"), ("their right", "right_foot"), ("middle", "head")):
        before = html[: html.index(f"joint, {side}")]
        assert rgb(palette.joints[HUMAN.joint_index(joint)]) in before[-200:]
    for part, colour in zip(HUMAN.parts, palette.parts[1:], strict=True):
        assert part.replace("_", " ") in html
        assert rgb(colour) in html
    assert "left upper head" not in legend_html(HUMAN, palette, has_depth=False)
