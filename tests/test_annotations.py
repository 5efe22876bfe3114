"""Every function that Numba does not compile is annotated; mypy checks the rest, module by module."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.kernels.kernel_functions import is_kernel
from tests.support.paths import ROOT

PATHS = sorted(path for package in ("posepipe", "synth", "apps") for path in (ROOT / package).rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def holds_kernels(path: Path) -> bool:
    return any(map(is_kernel, ast.walk(parsed(path))))


def functions(node: ast.AST, in_class: bool = False) -> Iterator[tuple[Function, bool]]:
    """Functions outside kernels, and whether each is a method."""
    for child in ast.iter_child_nodes(node):
        if is_kernel(child):
            continue
        if isinstance(child, Function):
            yield child, in_class
        yield from functions(child, isinstance(child, ast.ClassDef))


def is_annotated(function: Function, is_method: bool) -> bool:
    static = any(ast.unparse(each) == "staticmethod" for each in function.decorator_list)
    arguments = [*function.args.posonlyargs, *function.args.args]
    arguments = arguments[1:] if is_method and not static else arguments
    arguments += [*function.args.kwonlyargs, *filter(None, [function.args.vararg, function.args.kwarg])]
    returns = function.returns is not None or (function.name == "__init__" and bool(arguments))
    return returns and all(argument.annotation is not None for argument in arguments)


def test_every_function_outside_kernels_is_annotated():
    bare = [
        f"{path.relative_to(ROOT)}:{function.lineno}: {function.name}"
        for path in PATHS
        for function, is_method in functions(parsed(path))
        if not is_annotated(function, is_method)
    ]
    assert bare == []


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def test_mypy_lets_no_module_without_a_kernel_off():
    with open(ROOT / "pyproject.toml", "rb") as file:
        overrides = tomllib.load(file)["tool"]["mypy"]["overrides"]
    (let_off,) = [set(each["module"]) for each in overrides if each.get("disallow_untyped_defs") is False]
    holding = {path for path in PATHS if holds_kernels(path)}
    assert let_off == set(map(module_name, holding))
