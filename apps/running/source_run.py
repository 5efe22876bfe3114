"""One source through the pipeline into the sinks of the arguments: what ``posepipe run`` does with it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from apps.options.sink_options import make_sinks
from apps.options.source_options import play_as_asked

if TYPE_CHECKING:
    from posepipe.pipeline import Pipeline
    from posepipe.sinks import FrameSink
    from posepipe.sources import FrameSource


class SourceRun:
    """An open source, and the sinks that its results go to.

    Parameters
    ----------
    args : of ``posepipe run``
    opened : FrameSource, as `open_named` opens it
    pipeline : Pipeline
    model : str, its identity, for the headers of results
    """

    def __init__(self, args: argparse.Namespace, opened: FrameSource, pipeline: Pipeline, model: str) -> None:
        from posepipe.sinks.files.json_lines import ResultsHeader
        from posepipe.sources.playback import NonEmptySource

        self._pipeline = pipeline
        self.source = NonEmptySource(play_as_asked(opened, args))
        body, fitted = pipeline.classifier.body, pipeline.body_fitter is not None
        start_time_ns = self.source.start_time_ns
        about = body.joints, str(args.source), model
        header = ResultsHeader(*about, start_time_ns=start_time_ns, fitted=fitted, tracked=not args.no_tracking)
        self.sinks = make_sinks(args, header, body)

    def play(self, further: Sequence[FrameSink]) -> None:
        """Find the people of the whole source; results also go to ``further`` sinks."""
        from apps.running.completed_sinks import CompletedSinks

        self._pipeline.run(self.source, CompletedSinks([*self.sinks, *further]))
