"""From candidate to pose: the joint stages in their order, for the pipeline, for training and for benchmarks."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.refinement import Evidence
from posepipe.joints.weighted_points import PointWeighting, WeightedPoints
from posepipe.landmarks import landmark_classes
from posepipe.parts import PartClassifier, PartProbabilities
from posepipe.results import Pose, Proposals
from posepipe.segmentation.pixel_grid import stride_for
from posepipe.segmentation.views.view import View


class JointStages(NamedTuple):
    """The stages that turn the pixels of a candidate into a pose, in their order."""

    classifier: PartClassifier
    weighting: PointWeighting
    proposer: ModeProposer
    pose_estimator: PoseEstimator

    @classmethod
    def of(cls, classifier: PartClassifier, parameters: JointParameters) -> JointStages:
        """Make the stages of a classifier and the joint parameters of its body."""
        body = classifier.body
        weighting = PointWeighting(landmark_classes(body))
        return cls(classifier, weighting, ModeProposer(body, parameters), PoseEstimator(body, parameters))


class PoseInference:
    """What each stage finds in one candidate. A stage runs when its result is first read, and not again.

    A result that is known already enters at its place, and the stages before it never run: the pipeline brings the
    parts that its person filter has seen, training brings proposals, a benchmark the input of the stage that it times.

    Parameters
    ----------
    stages : JointStages
    view : the candidate; None = points or proposals are known
    parts : of the view; None = classify its pixels
    points : of the parts; None = weight them
    proposals : of the points; None = find modes
    """

    def __init__(
        self,
        stages: JointStages,
        view: View | None = None,
        parts: PartProbabilities | None = None,
        points: WeightedPoints | None = None,
        proposals: Proposals | None = None,
    ) -> None:
        self._stages, self._view = stages, view
        known = {"parts": parts, "points": points, "proposals": proposals}
        # a cached property reads the instance's own attribute, where there is one
        vars(self).update((name, result) for name, result in known.items() if result is not None)

    @property
    def view(self) -> View:
        """The candidate. Raises ValueError where only later results are known."""
        if self._view is None:
            raise ValueError("this inference was started without a view; parts and points need one")
        return self._view

    @cached_property
    def parts(self) -> PartProbabilities:
        """Parts of the view, on the grid of pixels that is enough for its size."""
        view = self.view
        return self._stages.classifier.predict(view.depth_m, view.mask, view.intrinsics, stride_for(view.mask))

    @cached_property
    def points(self) -> WeightedPoints:
        """The classified pixels in space, weighted for every landmark, with their votes."""
        return self._stages.weighting.weigh(self.view.depth_m, self.view.intrinsics, self.parts)

    @cached_property
    def proposals(self) -> Proposals:
        """Places of every landmark, in the axes of the view."""
        return self._stages.proposer.find(self.points)

    @cached_property
    def evidence(self) -> Evidence:
        """The chosen proposals and the joints that the prior infers from them: the input of the network."""
        return self._stages.pose_estimator.gather(self.proposals)

    @cached_property
    def pose(self) -> Pose | None:
        """The pose, in the axes of the view; None when too few landmarks are found."""
        return self._stages.pose_estimator.estimate(self.proposals)
