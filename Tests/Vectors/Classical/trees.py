"""Trees as nested tuples, random ones and their evaluation by a plain recursive traversal."""

import math

TESTS = {
    "LEQ": lambda x, v: x <= v, "LT": lambda x, v: x < v, "GTE": lambda x, v: x >= v, "GT": lambda x, v: x > v,
    "EQ": lambda x, v: x == v, "NEQ": lambda x, v: x != v, "MEMBER": lambda x, v: x in v,
}


def grow(random, depth, features, targets, modes, votes=1, values=None):
    """A branch is (mode, feature, value, missing is true, if true, if false), a leaf a list of (target, weight)."""
    if depth == 0 or random.uniform() < 0.15:
        chosen = random.choice(targets, size=min(votes, targets), replace=False)
        return [(int(target), float(round(random.normal(), 3))) for target in chosen]
    mode = str(random.choice(modes))
    pick = values if values is not None else [-1.0, -0.5, 0.0, 0.25, 0.5, 1.0]
    value = sorted({float(v) for v in random.choice(pick, size=3)}) if mode == "MEMBER" else float(random.choice(pick))
    children = [grow(random, depth - 1, features, targets, modes, votes, values) for _ in range(2)]
    return (mode, int(random.integers(features)), value, bool(random.integers(2)), *children)


def leaf(tree, row, strict):
    """`strict`: a NaN follows the node's flag, whatever the test is; otherwise it may pass the test."""
    while isinstance(tree, tuple):
        mode, feature, value, missing, if_true, if_false = tree
        x = row[feature]
        passes = missing if math.isnan(x) and (strict or mode != "NEQ") else TESTS[mode](x, value)
        tree = if_true if passes else if_false
    return tree


def evaluate(forest, row, targets, aggregate="SUM", base=None, strict=False):
    """Returns the sum of each target."""
    votes = [[] for _ in range(targets)]
    for tree in forest:
        for target, weight in leaf(tree, row, strict):
            votes[target].append(weight)
    join = {"SUM": sum, "AVERAGE": lambda v: sum(v) / len(forest), "MIN": min, "MAX": max}[aggregate]
    return [(join(v) if v else 0.0) + b for v, b in zip(votes, base or [0.0] * targets)]


def numbered(forest):
    """(tree, node, node's content, number of the true child, of the false child) of every node."""
    rows = []
    for number, tree in enumerate(forest):
        def add(node):
            place = len(rows)
            rows.append(None)
            own = place - start
            if isinstance(node, tuple):
                rows[place] = (number, own, node, add(node[4]), add(node[5]))
            else:
                rows[place] = (number, own, node, 0, 0)
            return own
        start = len(rows)
        add(tree)
    return rows
