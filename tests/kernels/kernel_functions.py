"""Which functions of a source file Numba compiles."""

from __future__ import annotations

import ast

DECORATORS = ("njit", "helper")
"""Names of `posepipe.compilation` under which kernels are declared."""


def is_kernel(node: ast.AST) -> bool:
    """Tell whether Numba compiles a function."""
    return isinstance(node, ast.FunctionDef) and any(
        ast.unparse(each).partition("(")[0].endswith(DECORATORS) for each in node.decorator_list
    )
