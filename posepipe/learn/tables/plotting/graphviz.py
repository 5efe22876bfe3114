"""A tree in the language of Graphviz: ``dot -Tsvg tree.dot``."""

from __future__ import annotations

from collections.abc import Sequence

from posepipe.learn.tables.conditions import SplitConditions
from posepipe.learn.tables.plotting.tree_text import leaf_descriptions
from posepipe.learn.tables.single_tree import SingleTree


def graphviz_text(learner: SingleTree, names: Sequence[str] | None = None) -> str:
    """Write a fitted tree as a directed graph.

    Parameters
    ----------
    learner : SingleTree, fitted
    names : of the columns, for a training table without names

    Returns
    -------
    str, a DOT document; boxes are splits, ellipses leaves, and edges carry the conditions of the branches

    References
    ----------
    Gansner, Koutsofios and North, Drawing graphs with dot, 2015.
    """
    splits = SplitConditions.of(learner, names)
    tree, describe = learner.tree_.tree, leaf_descriptions(learner)
    lines = ["digraph tree {", "  node [shape=box];"]
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if not children:
            lines.append(f"  {node} [label={_quoted(describe(node))}, shape=ellipse];")
            continue
        column = int(tree.feature[node])
        lines.append(f"  {node} [label={_quoted(splits.column_text(column))}];")
        conditions = splits.branches(column, tree.threshold[node], len(children))
        for child, condition in zip(children, conditions, strict=True):
            lines.append(f"  {node} -> {child} [label={_quoted(splits.branch_text(condition))}];")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
