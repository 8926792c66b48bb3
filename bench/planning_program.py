"""A planning problem as an integer program, for HiGHS through SciPy. Shares nothing with Kelvin's searches.

Binaries: node n runs on device d; value v is copied from a to b. A value is *wanted* on each device where a reader runs, and
outputs on the host. For each value and device where it may be wanted one unit flows there from where it is made, through
copies alone, so that copies form a tree, relays included. Of two devices copies need no flow: the only way is direct.

A limited memory holds each weight that a node on the device reads, and the values of any one node there. The other values that
live meanwhile are left out, so the optimum may be too low.
"""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array


class Program:
    """Columns with costs and bounds, rows as `least <= sum of coefficients <= most`."""

    def __init__(self):
        self.cost, self.upper, self.integral = [], [], []
        self.rows, self.columns, self.entries, self.least, self.most = [], [], [], [], []

    def column(self, upper=1.0, integral=False, cost=0.0):
        self.cost.append(cost)
        self.upper.append(upper)
        self.integral.append(int(integral))
        return len(self.cost) - 1

    def row(self, terms, least=-np.inf, most=np.inf):
        for column, entry in terms:
            self.rows.append(len(self.least))
            self.columns.append(column)
            self.entries.append(entry)
        self.least.append(least)
        self.most.append(most)

    def solve(self, seconds):
        matrix = coo_array((self.entries, (self.rows, self.columns)), shape=(len(self.least), len(self.cost))).tocsr()
        return milp(self.cost, integrality=self.integral, bounds=Bounds(0, self.upper),
                    constraints=LinearConstraint(matrix, self.least, self.most),
                    options={"time_limit": seconds, "mip_rel_gap": 1e-9})


def copy_seconds(problem, value, link):
    boundary = problem.get("boundarySeconds", {}).get(link["to"], 0)
    moved = value["bytes"] / link["bytesPerSecond"] if link.get("bytesPerSecond") else 0
    return link["latency"] + moved + boundary


def build(problem):
    """The program, with one term list for each load: `loads[name]` is `[(column, seconds)]`; and the serial sum's."""
    program, devices, host = Program(), problem["devices"], problem["host"]
    resource = {d: problem.get("resource", {}).get(d, d) for d in devices}
    power = problem.get("power")
    spare = power["sustainableWatts"] - power["idleWatts"] if power else None
    loads = {name: [] for name in resource.values()} | ({"power": []} if spare else {})
    serial, values, where, users = [], {}, {}, {d: [] for d in devices}
    for value in problem["inputs"]:
        values[value["value"]] = (value, None)
    for node in problem["nodes"]:
        where[node["id"]] = {d: program.column(integral=True) for d in devices if d in node["seconds"]}
        program.row([(c, 1) for c in where[node["id"]].values()], 1, 1)
        for device, column in where[node["id"]].items():
            serial.append((column, node["seconds"][device]))
            loads[resource[device]].append((column, node["seconds"][device]))
            users[device].append(column)
            if spare:
                loads["power"].append((column, node["joules"][device] / spare))
        for value in node["outputs"]:
            values[value["value"]] = (value, node["id"])
    keep(program, problem, where)
    readers = {}
    for node in problem["nodes"]:
        for name in set(node["inputs"]):
            readers.setdefault(name, []).append(node["id"])
    for name, (value, maker) in values.items():
        made = where[maker] if maker else {host: None}
        copies = {}
        for link in problem["transfers"]:
            seconds = copy_seconds(problem, value, link)
            column = copies[link["from"], link["to"]] = program.column(integral=True)
            serial.append((column, seconds))
            for end in {resource[link["from"]], resource[link["to"]]}:
                loads[end].append((column, seconds))
            if link["to"] != host:
                users[link["to"]].append(column)
        for target in devices:
            wanting = [where[reader][target] for reader in readers.get(name, []) if target in where[reader]]
            if wanting or target == host and name in problem["outputs"]:
                want(program, devices, made, copies, target, wanting, target == host and name in problem["outputs"])
    return program, loads, serial, users


def keep(program, problem, where):
    """The weights on each device, and the values of any node there, take at most its memory."""
    for device, most in problem.get("memory", {}).items():
        kept = {}
        for node in problem["nodes"]:
            for weight in node.get("weights", []) if device in where[node["id"]] else []:
                column, _ = kept.setdefault(weight["weight"], (program.column(), weight["bytes"] / 2**20))
                program.row([(column, 1), (where[node["id"]][device], -1)], least=0)
        sizes = {v["value"]: v["bytes"] for v in problem["inputs"]}
        sizes |= {v["value"]: v["bytes"] for node in problem["nodes"] for v in node["outputs"]}
        for node in problem["nodes"]:
            if device in where[node["id"]]:
                values = sum(sizes[v] for v in {*node["inputs"], *(v["value"] for v in node["outputs"])}) / 2**20
                program.row([*kept.values(), (where[node["id"]][device], values)], most=most / 2**20)


def want(program, devices, made, copies, target, wanting, always):
    """The value reaches `target` where any column of `wanting` is 1, or always."""
    if len(devices) == 2:
        arrives = [(column, 1) for (_, to), column in copies.items() if to == target]
        home = made.get(target, -1)
        if home is None:
            return
        here = arrives + ([(home, 1)] if home >= 0 else [])
        if always:
            program.row(here, least=1)
        for column in wanting:
            program.row(here + [(column, -1)], least=0)
        return
    flows = {pair: program.column() for pair in copies}
    starts = {device: program.column() for device in made}
    for pair, flow in flows.items():
        program.row([(copies[pair], 1), (flow, -1)], least=0)
    for device, column in made.items():
        if column is not None:
            program.row([(column, 1), (starts[device], -1)], least=0)
    for device in devices:
        through = [(flow, 1) for (_, to), flow in flows.items() if to == device]
        through += [(flow, -1) for (start, _), flow in flows.items() if start == device]
        through += [(starts[device], 1)] if device in starts else []
        if device != target:
            program.row(through, 0, 0)
            continue
        if always:
            program.row(through, 1, 1)
        for column in [] if always else wanting:
            program.row(through + [(column, -1)], least=0)


def solve(problem, seconds):
    """The best objective that HiGHS finds within `seconds`, and its bound; `None` where it finds none."""
    program, loads, serial, users = build(problem)
    constant = 0.0
    goal = problem.get("goal", "latency")
    if goal in ("throughput", "sustained"):
        peak = program.column(np.inf, cost=1)
        for name, terms in loads.items():
            if goal == "sustained" or name != "power":
                program.row([(column, -entry) for column, entry in terms] + [(peak, 1)], least=0)
    else:
        start = problem.get("start", {}) if goal == "one-shot" else {}
        inferences = 1 + start.get("runs", 0)
        constant = start.get("load", 0)
        for column, entry in serial:
            program.cost[column] += inferences * entry
        for device, columns in users.items():
            if start.get("devices", {}).get(device):
                used = program.column(cost=start["devices"][device])
                for column in columns:
                    program.row([(used, 1), (column, -1)], least=0)
    scale = 1 / max(entry for _, entry in serial)
    program.cost = [scale * cost for cost in program.cost]
    answer = program.solve(seconds)
    bound = None if answer.mip_dual_bound is None else answer.mip_dual_bound / scale + constant
    return (None if answer.x is None else answer.fun / scale + constant), bound
