"""A tree in letters, a line a branch.

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

from posepipe.learn.tables.questions import Questions, amount, answers_of_nodes, class_names, number
from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier


def tree_text(learner: SingleTree, names: Sequence[str] | None = None) -> str:
    """Print a fitted tree.

    A leaf shows its class and its training rows, class by class where they disagree, or the mean of a
    number. Where several columns scored best, those after the first, which is asked, are named.

    Parameters
    ----------
    learner : of classes or of a number
    names : of the columns, for a table that came without
    """
    tree, questions = learner.tree_.tree, Questions.of(learner, names)
    say, ties = leaf_sayings(learner), tie_notes(learner, questions)
    lines = []
    waiting = [(0, "", "", "")]  # node, what stands before its line and before those of its children, its branch
    while waiting:
        node, before, below, branch = waiting.pop()
        children = tree.children(node)
        if not children:
            lines.append(f"{before}{branch}{say(node)}")
            continue
        column = int(tree.feature[node])
        note = f"   ({ties[node]})" if node in ties else ""
        lines.append(f"{before}{branch}{questions.subject(column)}{note}")
        answers = [
            f"{questions.answer(demand)}: "
            for demand in questions.branches(column, tree.threshold[node], len(children))
        ]
        further = [
            (child, below + "|- ", below + "|  ", answer) for child, answer in zip(children, answers, strict=True)
        ]
        further[-1] = (children[-1], below + "'- ", below + "   ", answers[-1])
        waiting += reversed(further)
    return "\n".join(lines)


def tie_notes(learner: SingleTree, questions: Questions) -> dict[int, str]:
    """Node to which columns scored as well there as the one that is asked: ``as good: Price, Type``."""
    # a tree that was not grown here has no ties to tell of
    ties: dict[int, tuple[int, ...]] = getattr(learner, "ties_", {})
    return {node: f"as good: {', '.join(map(questions.subject, columns[1:]))}" for node, columns in ties.items()}


def leaf_sayings(learner: SingleTree) -> Callable[[int], str]:
    """What a leaf says, by its node: ``yes (4)``, ``yes (yes: 3, no: 1)``, ``5.72 (3 rows)``."""
    tree = learner.tree_
    if not isinstance(learner, SingleTreeClassifier):
        means = tree.values[:, 0] + learner.mean_
        return lambda node: f"{number(means[node])} ({_rows(tree.weight[node])})"
    names, answers, statistics = class_names(learner), answers_of_nodes(learner), tree.tree.node_statistics()

    def say(node: int) -> str:
        present = [k for k in (-statistics[node]).argsort(kind="stable") if statistics[node, k] > 0]
        said = names[answers[node]]
        if not present:
            return f"{said} (no rows)"
        if present == [answers[node]]:
            return f"{said} ({amount(tree.weight[node])})"
        return f"{said} ({', '.join(f'{names[k]}: {amount(statistics[node, k])}' for k in present)})"

    return say


def _rows(weight: float) -> str:
    return "no rows" if weight == 0 else "1 row" if weight == 1 else f"{amount(weight)} rows"
