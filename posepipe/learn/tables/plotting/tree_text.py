"""A tree as text, one line per branch.

outlook
|- overcast: yes (4)
|- rain: wind
|  |- strong: no (2)
|  '- weak: yes (3)
'- sunny: humidity
   |- high: no (3)
   '- normal: yes (2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from posepipe.learn.tables.conditions import (
    SplitConditions,
    class_names,
    format_number,
    format_rows,
    format_weight,
    predicted_classes,
)
from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier


def tree_text(learner: SingleTree, names: Sequence[str] | None = None) -> str:
    """Write a fitted tree as text.

    A leaf shows its class with the weights of its training rows, by class if they differ, or its mean. Columns
    that tie with the split column are named.

    Parameters
    ----------
    learner : SingleTree, fitted
    names : of the columns, for a training table without names
    """
    splits = SplitConditions.of(learner, names)
    tree = learner.tree_.tree
    describe, ties = leaf_descriptions(learner), tie_notes(learner, splits)
    lines = []
    stack = [(0, "", "", "")]  # node, indent of its line, indent of its children, text of its branch
    while stack:
        node, indent, below, branch = stack.pop()
        children = tree.children(node)
        if not children:
            lines.append(f"{indent}{branch}{describe(node)}")
            continue
        column = int(tree.feature[node])
        note = f"   ({ties[node]})" if node in ties else ""
        lines.append(f"{indent}{branch}{splits.column_text(column)}{note}")
        conditions = splits.branches(column, tree.threshold[node], len(children))
        texts = [f"{splits.branch_text(condition)}: " for condition in conditions]
        entries = [(child, below + "|- ", below + "|  ", text) for child, text in zip(children, texts, strict=True)]
        entries[-1] = (children[-1], below + "'- ", below + "   ", texts[-1])
        stack += reversed(entries)
    return "\n".join(lines)


def tie_notes(learner: SingleTree, splits: SplitConditions) -> dict[int, str]:
    """Describe the columns that tie with the split column, by node: ``as good: Price, Type``."""
    ties: dict[int, tuple[int, ...]] = getattr(learner, "ties_", {})  # hand-made trees have none
    return {node: f"as good: {', '.join(map(splits.column_text, columns[1:]))}" for node, columns in ties.items()}


def leaf_descriptions(learner: SingleTree) -> Callable[[int], str]:
    """Return a function that describes a node as a leaf.

    Its texts are like ``yes (4)``, ``yes (yes: 3, no: 1)`` or ``5.72 (3 rows)``.
    """
    tree = learner.tree_
    if not isinstance(learner, SingleTreeClassifier):
        means = tree.values[:, 0] + learner.mean_
        return lambda node: f"{format_number(means[node])} ({format_rows(tree.weight[node])})"
    names, predicted, statistics = class_names(learner), predicted_classes(learner), tree.tree.node_statistics()

    def describe(node: int) -> str:
        present = [k for k in (-statistics[node]).argsort(kind="stable") if statistics[node, k] > 0]
        name = names[predicted[node]]
        if not present:
            return f"{name} (no rows)"
        if present == [predicted[node]]:
            return f"{name} ({format_weight(tree.weight[node])})"
        return f"{name} ({', '.join(f'{names[k]}: {format_weight(statistics[node, k])}' for k in present)})"

    return describe
