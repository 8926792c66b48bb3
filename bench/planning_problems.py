"""Seeded planning problems of `planning.py`: graphs of a given width and depth, with the costs of a machine of
several devices."""

import random

LINKS = {"near": (1e-6, 1e-5), "far": (1e-5, 1e-4)}


def machine(rng, devices, links):
    """Device names, and a link for each ordered pair of them."""
    names = [f"d{number}" for number in range(devices)]
    low, high = LINKS[links]
    transfers = [{"from": a, "to": b, "latency": rng.uniform(low, high), "bytesPerSecond": rng.uniform(5e9, 2e10)}
                 for a in names for b in names if a != b]
    return names, transfers


def problem(rng, devices, links, goal, nodes, outputs):
    """The document for `kelvin plan --problem`. `nodes` is a list of the values that each reads; node `n` writes `vn`."""
    names, transfers = machine(rng, devices, links)
    document = {
        "devices": names, "host": "d0", "transfers": transfers, "goal": goal,
        "inputs": [{"value": "in", "bytes": 600_000}], "outputs": outputs,
        "nodes": [{"id": f"n{number}", "inputs": reads,
                   "outputs": [{"value": f"v{number}", "bytes": rng.randint(1_000, 200_000)}],
                   "seconds": {name: rng.uniform(5e-6, 6e-5) for name in names}}
                  for number, reads in enumerate(nodes)]}
    if goal == "one-shot":
        document["start"] = {"load": 1e-3, "runs": 20, "devices": {name: rng.uniform(1e-4, 1e-2) for name in names}}
    if goal == "sustained":
        document["power"] = {"idleWatts": 10, "sustainableWatts": 40}
        for node in document["nodes"]:
            node["joules"] = {name: seconds * rng.uniform(10, 100) for name, seconds in node["seconds"].items()}
    return document


def layered(width, depth, devices, seed, goal="latency", links="near", reads=3):
    """`depth` layers of `width` nodes; each node reads `reads` values of the layer before, the first layer the input."""
    rng = random.Random(seed)
    nodes = []
    for layer in range(depth):
        before = [f"v{(layer - 1) * width + place}" for place in range(width)] if layer else ["in"]
        nodes += [rng.sample(before, min(reads, len(before))) for _ in range(width)]
    last = [f"v{(depth - 1) * width + place}" for place in range(width)]
    return problem(rng, devices, links, goal, nodes, last)


def attention(heads, layers, devices, seed, goal="latency", links="near"):
    """Blocks of a transformer: `heads` chains of three nodes between a node that splits and a node that joins."""
    rng = random.Random(seed)
    nodes = [["in"]]
    for _ in range(layers):
        split = len(nodes) - 1
        chains = []
        for _ in range(heads):
            query = len(nodes)
            nodes += [[f"v{split}"], [f"v{split}", f"v{query}"], [f"v{query}", f"v{query + 1}"]]
            chains.append(f"v{query + 2}")
        nodes += [chains, [f"v{split}", f"v{len(nodes)}"]]
    return problem(rng, devices, links, goal, nodes, [f"v{len(nodes) - 1}"])
