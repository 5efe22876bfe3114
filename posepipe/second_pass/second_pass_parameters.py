"""Parameters of the second pass, stored in a model."""

from __future__ import annotations

from typing import NamedTuple

from posepipe.joints.joint_parameters import JointParameters
from posepipe.second_pass.relabelling import Relabelling


class SecondPassParameters(NamedTuple):
    """How pixels are labelled anew, given the first pose, and how joints are found from these labels."""

    relabelling: Relabelling
    joint_parameters: JointParameters  #: method "parts": labels are anew, votes are not
