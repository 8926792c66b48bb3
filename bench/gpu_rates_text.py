"""The text that gpu_rates.py writes."""

import report

COUNTED = """\
A plain shader does nothing but multiply-adds of vectors in registers (`multiply_adds.comp`); its rate is the highest of its \
variants and of all rounds. Operations are two for each product of a layer's definition, padding included, whatever the kernel \
does; matrix products are those of two computed operands, attention among them. A layer's time is the median over the rounds of what `kelvin profile` measures in place, timers taken off."""


def giga(rate):
    return f"{rate / 1e9:,.1f}" if rate < 1e11 else f"{rate / 1e9:,.0f}"


def percent(part):
    return f"{100 * part:.1f} %"


def row(model, title, entry):
    cells = [model["title"], title, entry["layers"], f"{entry['operations'] / 1e6:,.1f}", report.milliseconds(entry["seconds"]),
             giga(entry["rate"]), percent(entry["share"]), entry["verdict"]]
    return f"| {' | '.join(map(str, cells))} |"


def account(model):
    cells = [model["title"], report.milliseconds(model["sum"]), report.milliseconds(model["gaps"]),
             report.milliseconds(model["inTurn"]), f"{100 * model['apart']:+.1f} %", model["verdict"],
             report.milliseconds(model["whole"]),
             f"{1e12 * model['perOperation']:.1f} ps", model["elsewhere"] or "none"]
    return f"| {' | '.join(map(str, cells))} |"


def comparison(ratio):
    if ratio is None:
        return []
    one, other = ratio["titles"]
    return ["", f"{one} against {other}, time for an operation: {ratio['ratio']:.2f} ×, held to at most {ratio['bar']:.0f} ×: "
            f"{ratio['verdict']}."]


def markdown(result):
    plain = ", ".join(f"{giga(rate)} with {sums}" for sums, rate in result["plain"].items())
    rows = [report.heading(result, f"{result['rounds']} rounds of at most {result['budget']:g} s of profiling, interleaved"), "",
            *COUNTED.splitlines(), "", f"The plain shader, in Gop/s by vectors that are summed up side by side: {plain}.", "",
            "| Network | Family | Layers | Mop | Time | Gop/s | Of the plain shader | "
            f"At least {100 * result['bar']:.0f} % |", "|---|---|---|---|---|---|---|---|"]
    rows += [row(model, title, entry) for model in result["comparisons"] for title, entry in model["families"].items()]
    rows += ["", "Layers and gaps are told with timers, and held to whole inferences of the same process, made in turn without "
             "them; gaps are what an inference spends outside layers. An operation's time is told from a process of its own.", "",
             "| Network | Layers | Gaps | Whole inference | Layers + gaps against the whole | Within 5 % | In a process of its own | "
             "Time for an operation of products | Layers on another device |", "|---|---|---|---|---|---|---|---|---|"]
    rows += [account(model) for model in result["comparisons"]]
    return "\n".join(rows + comparison(result["ratio"]) + report.disturbed(result)) + "\n"
