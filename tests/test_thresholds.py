"""Thresholds come back from their file, reach the stages of a pipeline, and are refused by name where wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera import Intrinsics
from posepipe.errors import FormatError
from posepipe.frames import DepthFrame
from posepipe.pipeline import Pipeline
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.stage import check_numbers
from posepipe.thresholds import THRESHOLDS, ThresholdSettings, read_thresholds
from posepipe.tracking.one_euro import OneEuroSmoother
from posepipe.tracking.tracker import NoTracker
from tests.support.shipped_model import shipped_model


def written(tmp_path, text: str):
    path = tmp_path / "thresholds.toml"
    path.write_text(text)
    return path


any_settings = st.builds(
    ThresholdSettings,
    st.fixed_dictionaries(
        {},
        optional={each: st.floats(each.min, each.max).map(lambda value: round(value, 6)) for each in THRESHOLDS},
    ),
    st.none() | st.integers(1, 8),
    st.booleans(),
)


@given(settings=any_settings)
def test_settings_come_back_from_their_file(tmp_path_factory, settings):
    path = written(tmp_path_factory.mktemp("thresholds"), settings.to_toml())
    assert read_thresholds(path) == settings


def test_a_pipeline_takes_on_the_settings_of_another():
    first, second = Pipeline.from_model(shipped_model()), Pipeline.from_model(shipped_model())
    first.smoother, second.smoother = OneEuroSmoother(), OneEuroSmoother()
    changed = {each: each.max for each in THRESHOLDS}
    ThresholdSettings(changed, 3).apply(first)
    assert ThresholdSettings.of(first).values == changed
    ThresholdSettings.of(first).apply(second)
    assert ThresholdSettings.of(second) == ThresholdSettings(changed, 3)


def test_thresholds_of_stages_that_are_off_have_no_effect():
    cut_out = Pipeline.from_model(shipped_model(), tracking=False, foreground="none")
    ThresholdSettings({each: each.max for each in THRESHOLDS}).apply(cut_out)
    assert not {"person_filter.max_background", "smoother.beta"} & {
        each.name for each in ThresholdSettings.of(cut_out).values
    }
    assert cut_out.smoother is None


@pytest.mark.parametrize("count", [0, -1, 1.5])
def test_a_limit_below_one_person_is_refused(count):
    pipeline = Pipeline.from_model(shipped_model(), tracking=False, foreground="none")
    pipeline.max_people = count
    with pytest.raises(ValueError, match=f"max_people: wanted a whole number from 1 up, or None for all, got {count}"):
        pipeline.step(DepthFrame(np.zeros((24, 32), np.float32), Intrinsics(30.0, 30.0, 15.5, 11.5)))


@pytest.mark.parametrize("minimum", [80, -0.1, float("nan")])
def test_a_confidence_outside_its_range_is_refused(minimum):
    pipeline = Pipeline.from_model(shipped_model(), tracking=False, foreground="none")
    pipeline.min_confidence = minimum
    with pytest.raises(ValueError, match=f"min_confidence: wanted a number from 0 to 1, got {minimum}"):
        pipeline.step(DepthFrame(np.zeros((24, 32), np.float32), Intrinsics(30.0, 30.0, 15.5, 11.5)))


NAN = float("nan")


@pytest.mark.parametrize(
    ("stage", "values", "wanted"),
    [
        ("pose_estimator", {"min_confidence": 80}, "from 0 to 1, got 80"),
        ("person_filter", {"min_confidence": NAN}, "from 0 to 1, got nan"),
        ("tracker", {"max_step_m": -1}, "of at least 0, got -1"),
        ("tracker", {"forget_after_s": NAN}, "of at least 0, got nan"),
    ],
)
def test_a_number_of_a_stage_out_of_its_range_is_refused(stage, values, wanted):
    pipeline = Pipeline.from_model(shipped_model(), foreground="none")
    setattr(pipeline, stage, replace(getattr(pipeline, stage), **values))
    (field,) = values
    with pytest.raises(ValueError, match=rf"{stage}\.{field}: wanted a number {wanted}"):
        pipeline.step(DepthFrame(np.zeros((24, 32), np.float32), Intrinsics(30.0, 30.0, 15.5, 11.5)))


def test_shares_of_a_person_in_percent_are_refused():
    with pytest.raises(ValueError, match=r"person_filter\.min_share: wanted a number from 0 to 1, got 50"):
        check_numbers({"person_filter": PersonFilter(min_share=50)})


@pytest.mark.parametrize(
    ("stage", "field"),
    [
        ("pose_search", "enough"),
        ("rotated_views", "margin"),
        ("second_pass", "min_expected"),
        ("remainder", "max_share"),
    ],
)
def test_shares_whose_names_do_not_say_so_are_refused_too(stage, field):
    own = getattr(Pipeline.from_model(shipped_model()), stage)
    with pytest.raises(ValueError, match=rf"{stage}\.{field}: wanted a number from 0 to 1, got 30"):
        check_numbers({stage: replace(own, **{field: 30})})


def test_every_share_on_a_slider_has_its_range():
    pipeline = Pipeline.from_model(shipped_model())
    pipeline.smoother = OneEuroSmoother()
    for each in ThresholdSettings.of(pipeline).values:
        above = replace(getattr(pipeline, each.stage), **{each.field: each.max + 0.01})
        if each.max == 1:
            with pytest.raises(ValueError, match=f"{each.field}: wanted a number from 0 to 1"):
                check_numbers({each.stage: above})
        else:
            check_numbers({each.stage: above})  # the range of a slider is none of the number's


@dataclass(frozen=True)
class OwnTracker(NoTracker):
    """A stage of a user, whose number may be negative."""

    min_height_m: float = -0.5


def test_numbers_of_stages_of_ones_own_may_be_any():
    pipeline = Pipeline.from_model(shipped_model(), foreground="none")
    pipeline.tracker = OwnTracker()
    assert pipeline.step(DepthFrame(np.zeros((24, 32), np.float32), Intrinsics(30.0, 30.0, 15.5, 11.5))).people == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[person_filter]\nmin_confidence = 2", "person_filter.min_confidence: wanted a number from 0 to 1, got 2"),
        ("[person_filter]\nmin_share = true", "person_filter.min_share: wanted a number from 0 to 1, got True"),
        ("[person_filter]\nmin_share = nan", "person_filter.min_share: wanted a number"),
        (
            "[person_filter]\nmin = 0.5",
            "person_filter.min: no such threshold; .* has min_confidence, min_probability, max_background",
        ),
        ("[tracker]\nmax_step_m = 1", "tracker: wanted max_people, smooth, or a table of .*person_filter"),
        ("smoother = 1", "smoother: wanted max_people, smooth, or a table"),
        ("max_people = 0", "max_people: wanted a whole number from 1 up, got 0; leave it out"),
        ("max_people = true", "max_people: wanted a whole number"),
        ('smooth = "yes"', "smooth: wanted true or false, got 'yes'"),
        ("{}", "wanted TOML"),
    ],
)
def test_a_value_that_cannot_be_meant_is_named(tmp_path, text, message):
    with pytest.raises(FormatError, match=message):
        read_thresholds(written(tmp_path, text))
