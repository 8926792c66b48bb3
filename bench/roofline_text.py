"""The text that rooflines.py writes: tables of layers, and sentences on the slowest."""

import report

# Explanations of layers, found by hand, by the model and the beginning of the layer's computation.
WHY = {
    ("unet", "convolution_transpose"):
        "it is one convolution for each phase of its stride, each of which reads all of its input and writes rows with gaps",
}
NEAR = 0.05
SHORT = 64
SERIAL = (0.9, 1.1)

COUNTED = """\
A layer's floor is the larger of its operations at the highest rate of multiply-adds and its bytes at the bandwidth of where they \
come from. Operations are two for each product of the layer's definition, padding included; layers that are no sums of products \
count as Kelvin counts them. Bytes are inputs, weights and outputs once each, an input whole even where strides leave some of it \
out. Activations are taken to come from the fastest level that a layer's inputs and outputs fit into together; weights from L3 \
where those of the whole model and the largest layer's activations fit there, and from memory otherwise. A bandwidth is the higher \
one of reading and of copying (bytes read and bytes written), with a set of half of L2, of a quarter of L3, and of eight times L3. \
Every rate is the highest that any round saw.

A gap is time / floor; lost is time − floor, of all layers that are alike. Gaps below 1 are possible: Winograd's way needs fewer \
products than a convolution's definition, and values may still lie in a nearer cache than was taken. Layers that are alike in \
everything are one row, where the first of them stands; its figures but the lost time are those of one."""


def micro(seconds):
    return f"{1e6 * seconds:,.0f}" if seconds >= 9.95e-6 else f"{1e6 * seconds:.1f}"


def kilobytes(count):
    return f"{count / 1e3:,.0f}" if count >= 9950 else f"{count / 1e3:.1f}"


def giga(rate):
    return f"{rate / 1e9:.0f}" if rate >= 9.95e9 else f"{rate / 1e9:.1f}"


def row(entry):
    gap = "–" if entry["gap"] is None else f"{entry['gap']:.2f}"
    lost = micro(abs(entry["lost"]))
    cells = [entry["name"], entry["count"], entry["operator"], entry["shapes"], f"{entry['operations'] / 1e6:,.1f}",
             kilobytes(entry["weightBytes"]), kilobytes(entry["activationBytes"]), entry["bound"], micro(entry["floor"]),
             micro(entry["seconds"]), gap, f"−{lost}" if entry["lost"] < -5e-8 else lost]
    return f"| {' | '.join(map(str, cells))} |"


def account(model):
    """Whether the layers add up to the whole, as one sentence."""
    apart = model["sum"] / model["whole"] - 1
    near = "" if abs(apart) <= NEAR else " The layers' times do not add up to the whole: do not trust this table."
    return (f"{model['title']}: the layers take {report.milliseconds(model['sum'])} together, a whole inference "
            f"{report.milliseconds(model['whole'])} by itself ({100 * apart:+.1f} %) and {report.milliseconds(model['profiled'])} "
            f"while layers are timed; the floors add up to {report.milliseconds(model['floor'])}. A whole inference is at "
            f"{100 * model['share']:.0f} % of the peak.{near}")


def reached(entry, limits):
    """Returns the rates of a layer, and their share of the machine's limits."""
    rates = []
    if entry["operations"]:
        rate = entry["operations"] / entry["seconds"]
        rates.append(f"computes {giga(rate)} Gop/s ({100 * rate / limits.operations:.0f} % of the peak)")
    moved = entry["weightBytes"] + entry["activationBytes"]
    if moved:
        rates.append(f"moves {giga(moved / entry['seconds'])} GB/s")
    return "It " + " and ".join(rates) if rates else "By its definition it computes and moves nothing"


def bound(entry, limits):
    if entry["bound"] == "arithmetic":
        return f"arithmetic, {entry['operations'] / 1e6:,.1f} Mop at {giga(limits.operations)} Gop/s"
    what, level = entry["bound"].split(", ")
    count = entry["weightBytes"] if what == "weights" else entry["activationBytes"]
    return f"bandwidth, mostly of {kilobytes(count)} KB of {what} from {level} at {giga(limits.bandwidth[level])} GB/s"


def remarks(entry, limits):
    """Returns further remarks on the figures."""
    found = []
    together = entry["arithmetic"] + entry["traffic"]
    isBoth = min(entry["arithmetic"], entry["traffic"]) > 0.1 * together
    if isBoth and SERIAL[0] < together / entry["seconds"] < SERIAL[1]:
        found.append(f"arithmetic and traffic one after the other would take {micro(together)} µs")
    if entry["terms"] and entry["terms"] < SHORT:
        found.append(f"each output is a sum of only {entry['terms']:.0f} products")
    if not entry["operations"] and entry["activationBytes"]:
        found.append("it computes nothing and only moves values")
    if entry["age"] > limits.sizes["L3"]:
        found.append(f"other layers moved {entry['age'] / 1e6:.0f} MB since one of its inputs was made, more than L3 holds")
    return found


def explanation(model, entry):
    return next((why for (name, start), why in WHY.items() if name == model and entry["signature"].startswith(start)), None)


def stale(models):
    """Returns the explanations of layers that no longer exist."""
    return [f"{name}: {start}" for model in models for name, start in WHY if name == model["name"]
            and not any(entry["signature"].startswith(start) for entry in model["layers"])]


def sentence(name, entry, model, limits):
    alike = f" and {entry['count'] - 1} alike" if entry["count"] > 1 else ""
    each = " each" if alike else ""
    times = f"{entry['gap']:.1f} times their floor" if entry["gap"] and alike else \
        f"{entry['gap']:.1f} times its floor" if entry["gap"] else "with no floor"
    limit = f" ({bound(entry, limits)})" if entry["floor"] else ""
    why = explanation(name, entry)
    facts = [reached(entry, limits), *remarks(entry, limits)] + ([why] if why else [])
    share = 100 * entry["lost"] / model["sum"]
    return (f"`{entry['name']}`{alike}, {entry['operator']} of {entry['shapes']}: {micro(entry['seconds'])} µs{each}, "
            f"{times}{limit}; {micro(entry['lost'])} µs lost, {share:.1f} % of the model's time. {'; '.join(facts)}.")


def table_of_walls(limits):
    rows = ["| Wall | Rate |", "|---|---|",
            f"| multiply-adds in float32, {limits['vectors']} | {giga(limits['operations'])} Gop/s |"]
    sizes = {level: f", {size >> 20} MiB" for level, size in limits["sizes"].items()}
    return rows + [f"| {level}{sizes.get(level, '')} | {giga(rate)} GB/s |" for level, rate in limits["bandwidth"].items()]


def chapter(model):
    places = [f"{place}. {each['sentence']}" for place, each in enumerate(model["worst"], 1)]
    head = ["| Layer | Alike | Operator | Shapes | Mop | Weights, KB | Activations, KB | Bound by | Floor, µs | Time, µs | Gap | "
            "Lost, µs |", "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    return ["", f"## {model['title']}", "", f"{account(model)} Weights come from {model['weightLevel']}.", "",
            "Where most time is lost:", "", *places, "", *head, *map(row, model["layers"])]


def markdown(result):
    threads = f"{result['threads']} thread{'s' if result['threads'] > 1 else ''}"
    rows = [report.heading(result, f"{result['rounds']} rounds of at most {result['budget']:g} s of profiling, on {threads}"), "",
            *COUNTED.splitlines(), "", *table_of_walls(result["walls"])]
    for model in result["comparisons"]:
        rows += chapter(model)
    return "\n".join(rows + report.disturbed(result)) + "\n"
