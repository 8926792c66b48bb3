"""The text that growth.py writes."""

import report

TITLES = {"batch": "Batch", "size": "Size of images", "width": "Width"}
EXPLAINED = {
    "batch": "Items in one inference, images of 224x224.",
    "size": "Pixels of one image; the model's input is declared to be of that size.",
    "width": "All channels times a factor, one image of 224x224.",
}
HEAD = "| Model | {} | Gop | Time | Time an item | ns / Mop | Of the least before | Verdict |"
LOADING = """\
Cold: nothing in Kelvin's cache, and the model's file not in the page cache. Warm: the same again. Load and compile are what \
`kelvin bench` says of a process of its own, which is given its plan; beside them stands a whole process of `kelvin predict`, \
whose cold one may find the file in the page cache. Nodes are those of the file, and those that are left to run. ms / MB and \
µs / node are load and compile together over all bytes of the file, or over all of its nodes: a model of many bytes has dear \
nodes, one of many nodes dear bytes."""


def line(series):
    costs = ", ".join(f"{point['label']}: {1e9 * each(point):.1f} ns/Mop" for point in series["points"])
    return f"{series['title']}, {series['axis']}: {costs}; {series['verdict']}"


def each(point):
    """Returns seconds for a million operations."""
    return 1e6 * point["seconds"] / point["operations"]


def over_least(point):
    return "–" if point["growth"] is None else f"{point['growth']:.2f}"


def rows_of(series, allowed):
    for point in series["points"]:
        outcome = "–" if point["growth"] is None else "flat or falling" if point["growth"] <= allowed else "grows"
        yield (f"| {series['title']} | {point['label']} | {point['operations'] / 1e9:.2f} | "
               f"{report.milliseconds(point['seconds'])} | {report.milliseconds(point['seconds'] / point['items'])} | "
               f"{1e9 * each(point):,.0f} | {over_least(point)} | {outcome} |")


def chapter(axis, result):
    series = [one for one in result["series"] if one["axis"] == axis]
    if not series:
        return []
    rows = ["", f"## {TITLES[axis]}", "", EXPLAINED[axis], "", HEAD.format(TITLES[axis]), "|---" * 8 + "|"]
    for one in series:
        rows += rows_of(one, result["allowed"])
    return rows + ["", *(f"{one['title']}: {one['verdict']}." for one in series)]


def together(entry, state):
    return entry[state]["load"] + entry[state]["compile"]


def start(entry):
    cells = [entry["title"], f"{entry['bytes'] / 1e6:.1f}", f"{entry['nodes']:,}", f"{entry['nodesRun']:,}"]
    for state in ("cold", "warm"):
        cells += [report.milliseconds(entry[state][part]) for part in ("load", "compile", "predict")]
        cells += [f"{1e9 * together(entry, state) / entry['bytes']:,.1f}", f"{1e6 * together(entry, state) / entry['nodes']:,.0f}"]
    return f"| {' | '.join(cells)} |"


def loading(result):
    if not result["loading"]:
        return []
    states = " | ".join(f"{state}: load | compile | whole `predict` | ms / MB | µs / node" for state in ("Cold", "Warm"))
    return ["", "## Loading", "", LOADING, "", f"| Model | MB | Nodes | Run | {states} |", "|---" * 14 + "|",
            *map(start, result["loading"])]


def chains(result):
    if not result["chains"]:
        return []
    counts = result["chains"][0]["nodes"]
    head = " | ".join(f"{count:,} nodes" for count in counts)
    rows = ["", "What each node of a chain takes, which is judged as above:", "", f"| Chain | {head} | Verdict |",
            "|---" * (len(counts) + 2) + "|"]
    for one in result["chains"]:
        costs = " | ".join(f"{1e6 * value:.1f} µs" for value in one["secondsPerNode"])
        rows.append(f"| {one['title']} | {costs} | {one['verdict']} |")
    return rows


def markdown(result):
    threads = f"{result['threads']} thread{'s' if result['threads'] > 1 else ''}"
    rows = [report.heading(result, f"{result['rounds']} rounds on {threads}"), "",
            "Cost is held to be flat or falling: what one operation takes may be at most "
            f"{result['allowed']:g} times the least of all smaller cases of its series. Operations are two for each product of a "
            "layer's definition; kernels that need fewer products, such as Winograd's, count as if they made them all."]
    for axis in TITLES:
        rows += chapter(axis, result)
    rows += loading(result) + chains(result)
    return "\n".join(rows + report.disturbed({"comparisons": result["series"] + result["loading"]})) + "\n"
