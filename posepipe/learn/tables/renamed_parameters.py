"""Former parameter names of estimators, accepted with a warning for one release."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

EstimatorClass = TypeVar("EstimatorClass", bound=type[BaseEstimator])


def renamed_parameter(old: str, new: str, note: str = "") -> Callable[[EstimatorClass], EstimatorClass]:
    """Make a class decorator that accepts a parameter under its former name.

    The former name works in the constructor and in `set_params`, with a FutureWarning. It is not part of the
    signature, so `get_params` and `sklearn.base.clone` use the new name only.

    Parameters
    ----------
    old, new : str, former and present name
    note : str, appended to the warning, such as a change of the definition
    """

    def decorate(cls: EstimatorClass) -> EstimatorClass:
        for name in ("__init__", "set_params"):
            setattr(cls, name, _accept_old_name(getattr(cls, name), cls.__name__, old, new, note))
        return cls

    return decorate


def _accept_old_name(method: Callable, owner: str, old: str, new: str, note: str) -> Callable:
    @functools.wraps(method)
    def accepting(self: Any, *args: Any, **parameters: Any) -> Any:
        if old in parameters:
            if new in parameters:
                raise TypeError(f"{owner} got both {new} and its former name {old}; give {new} only")
            message = f"{owner}: parameter {old} is renamed to {new}; the former name stops working in the next release"
            warnings.warn(f"{message}. {note}".rstrip(". "), FutureWarning, stacklevel=2)
            parameters[new] = parameters.pop(old)
        return method(self, *args, **parameters)

    return accepting
