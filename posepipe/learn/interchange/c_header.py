"""Trees as a C header: their arrays, and a reference evaluator below them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from posepipe.io.files import read_regular, replace_file
from posepipe.learn.interchange.flat_trees import FlatTrees

_LINE = 24  #: numbers


def write_c_header(path: Path, trees: FlatTrees) -> None:
    """Write trees as a C header, in one step; floating-point numbers come back to the bit."""
    lines = [
        f"/* Trees exported by posepipe. Classes: {_comment(trees.about['classes'])} */",
        "#include <stdint.h>",
        "",
    ]
    lines += [f"#define POSEPIPE_{name} {value}" for name, value in _constants(trees).items()]
    arrays = {each.name: getattr(trees, each.name) for each in fields(trees)} | trees.more
    for name, array in arrays.items():
        if isinstance(array, np.ndarray):
            lines += _array(name, array)
    evaluator = read_regular(Path(__file__).with_name(f"{trees.kind}_evaluator.h")).decode()
    replace_file(path, ("\n".join(lines) + "\n" + evaluator).encode())


def _comment(classes: list | None) -> str:
    names = ["one number"] if classes is None else [ascii(str(name))[1:-1] for name in classes]
    return ", ".join(names).replace("*/", "* /")


def _constants(trees: FlatTrees) -> dict[str, str]:
    about, classes = trees.about, trees.about["classes"]
    constants = {"TREES": str(len(trees.roots)), "CLASSES": str(1 if classes is None else len(classes))}
    if trees.kind == "table":
        constants["COLUMNS"] = str(len(about["columns"]))
        constants["COMBINATIONS"] = str(len(trees.more["combinations"]))
        constants["FRACTIONAL"] = str(int(about["missing"] == "fractional"))
        return constants | {"MEAN": _number(np.float64(about["mean"]))}
    probes = about["probes"]
    constants["WALKS"] = str(len(trees.roots) * (2 if about["symmetric"] else 1))
    constants["BACKGROUND_MM"] = str(round(1000 * probes["background_m"]))
    constants["CLAMPED"] = str(int(probes["outside"] == "border"))
    return constants | {"FOCAL_PX": _number(np.float64(probes.get("focal_px", 1.0)))}


def _array(name: str, array: np.ndarray) -> Iterator[str]:
    kinds = {"u1": "uint8_t", "i4": "int32_t", "f4": "float", "f8": "double"}
    kind = kinds[array.dtype.str[1:]]
    numbers = list(map(_number, array.ravel())) if array.dtype.kind == "f" else list(map(str, array.ravel().tolist()))
    yield f"static const {kind} posepipe_{name}[] = {{"
    for start in range(0, len(numbers), _LINE):
        yield ",".join(numbers[start : start + _LINE]) + ","
    yield "};" if numbers else "0};"  # C knows no empty arrays


def _number(value: np.floating) -> str:
    text = str(value)  # the shortest that comes back
    text = text if any(mark in text for mark in ".en") else f"{text}.0"
    return f"{text}f" if value.dtype == np.float32 else text
