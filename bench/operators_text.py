"""The results of operators.py as text."""

import report

BAR = 2.0
# Explanations that people found for operators above the limit.
WHY = {
    "Inverse": "composed of one elimination step for each column; no other operation would use a kernel for it",
    "MaxPool": "positions are composed of a gather and a search",
    "Div": "a division of each element alone",
}


def title(entry):
    return f"{entry['operator']}, {entry['about']}" if entry["about"] else entry["operator"]


def ratio(entry):
    return entry["kelvin"] / entry["peer"] if "kelvin" in entry and "peer" in entry else None


def number(value):
    return "–" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


def line(entry):
    if "error" in entry:
        return f"{title(entry)}: {entry['error']}"
    estimate = entry["predicted"] / entry["kelvin"]
    return (f"{title(entry)}: {1000 * entry['kelvin']:.3f} ms, peer {number(1000 * entry['peer'] if 'peer' in entry else None)} ms, "
            f"ratio {number(ratio(entry))}, {'+'.join(entry['devices'])}, estimate {number(estimate)} x, "
            f"difference {entry.get('difference')}{' ' + entry['peerError'] if 'peerError' in entry else ''}")


def size(entry):
    return ", ".join("x".join(map(str, shape)) or "scalar" for shape in entry["shapes"]) or "–"


def row(entry):
    milliseconds = [f"{1000 * entry[key]:.3f}" if entry.get(key) else "–" for key in ("before", "kelvin", "peer")]
    difference = entry.get("difference")
    return (f"| {title(entry)} | {size(entry)} | {' | '.join(milliseconds)} | {number(ratio(entry))} | "
            f"{', '.join(entry['devices'])} | {1000 * entry['predicted']:.3f} | {number(entry['predicted'] / entry['kelvin'])} | "
            f"{'–' if difference is None else f'{difference:.0e}' if difference else 'none'} |")


def markdown(result):
    cases = [entry for entry in result["cases"] if "error" not in entry]
    compared = [entry for entry in cases if ratio(entry) is not None]
    above = sorted((entry for entry in compared if ratio(entry) > BAR), key=ratio, reverse=True)
    referred = [title(entry) for entry in cases if "reference" in entry["devices"]]
    estimates = [entry["predicted"] / entry["kelvin"] for entry in cases]
    within = sum(0.5 <= each <= 2 for each in estimates)
    rows = [report.heading(result, f"one thread each; the shortest of {result['rounds']} interleaved rounds"), "",
            f"{len(compared)} of {len(result['cases'])} cases are compared with ONNX Runtime. {len(above)} take more than "
            f"{BAR:g} times as long. {within} of {len(cases)} estimates are within 2 times the measured time.", "",
            "`Before` is the time of an earlier build. Times are without the copy of inputs below 64 KiB.", "",
            "On the reference device: " + (", ".join(referred) or "none") + ".", ""]
    rows += ["Above the limit:", "", "| Operator | Ratio | Because |", "|---|--:|---|"]
    rows += [f"| {title(entry)} | {number(ratio(entry))} | {WHY.get(entry['operator'], '–')} |" for entry in above] + [""]
    rows += ["| Operator | Inputs | Before, ms | Kelvin, ms | ONNX Runtime, ms | Ratio | Device | Estimate, ms | Estimate / measured | "
             "Difference |", "|---|---|--:|--:|--:|--:|---|--:|--:|--:|"]
    rows += [row(entry) for entry in cases]
    failed = [entry for entry in result["cases"] if "error" in entry]
    if failed:
        rows += ["", "Not run:", ""] + [f"- {title(entry)}: {entry['error'].splitlines()[0]}" for entry in failed]
    alone = [entry for entry in cases if "peer" not in entry]
    if alone:
        rows += ["", "ONNX Runtime does not run: " + ", ".join(title(entry) for entry in alone) + "."]
    return "\n".join(rows) + "\n"
