"""The results of errors.py as text."""

import statistics

WORST = 5
BASES = {"full": "OpenBLAS's sgemm on im2col", "low": "products in float64 of operands rounded to bfloat16"}
NOTES = {
    "full": "The exact result is that of float64 on the same float32 operands. Errors are L2 norms of the difference over that of "
            "the exact result; in brackets the largest difference over the largest exact number. Each layer counts with the photo "
            "that gives the larger ratio.",
    "low": "Only layers whose operands Kelvin rounds; {others} others stay in float32 and count above. What is compared with has "
           "no error but that of rounding operands once.",
}


def counted(model, precision):
    """The layers by which a precision is assessed."""
    return [each for each in model["layers"].get(precision, ()) if precision == "full" or each["isRounded"]]


def ratios(entries):
    return [each["ratio"] for each in entries if each["ratio"] is not None]


def over(entries, bar):
    return [each for each in entries if each["ratio"] is not None and each["ratio"] > bar]


def account(model, bar):
    """A line for each precision."""
    lines = []
    for precision in BASES:
        entries = counted(model, precision)
        if entries:
            known = ratios(entries)
            lines.append(f"{model['title']}, {precision}: {len(entries)} layers, ratio {statistics.median(known):.2f}, at most "
                         f"{max(known):.2f}, over {bar:.1f}: {len(over(entries, bar))}")
    return "\n".join(lines)


def markdown(result):
    about = result["machine"]
    lines = [f"Computed {result['date']} on {about['processor']}; Kelvin with {about['kelvin']}, {result['threads']} threads; "
             f"compared with {about['reference']}."]
    for precision in BASES:
        if any(counted(model, precision) for model in result["models"]):
            lines += ["", f"# Precision {precision}", "", *section(result, precision)]
        else:
            lines += ["", f"Precision {precision} comes to full here."]
    return "\n".join([*lines, "", "# Top-1", "", *best_classes(result["top1"])]) + "\n"


def section(result, precision):
    bar, models = result["bar"], [model for model in result["models"] if counted(model, precision)]
    entries = [each for model in models for each in counted(model, precision)]
    others = sum(len(model["layers"]["full"]) for model in models) - len(entries)
    lines = [f"Kelvin's errors over those of {BASES[precision]}. {NOTES[precision].format(others=others)}", "",
             f"Of {len(entries)} layers {len(over(entries, bar))} are over {bar:.1f} × the error compared with; the median is "
             f"{statistics.median(ratios(entries)):.2f} ×."]
    lines += ["", "| Model | Weights | Layers | Median | Largest | Over |", "|---|---|---|---|---|---|"]
    lines += [f"| {model['title']} | {model['weights']} | {figures(counted(model, precision), bar)} |"
              for model in models]
    lines += ["", "| Kernel | Layers | Median | Largest | Over |", "|---|---|---|---|---|"]
    lines += [f"| {name} | {figures(same, bar)} |" for name, same in sorted(by_kernel(entries).items())]
    return lines + [line for model in models for line in worst(model, precision)]


def by_kernel(entries):
    kernels = {}
    for each in entries:
        kernels.setdefault(each["kernel"] or "unknown", []).append(each)
    return kernels


def worst(model, precision):
    """A table of the layers with the largest ratios."""
    entries = sorted(counted(model, precision), key=lambda each: -(each["ratio"] or 0))[:WORST]
    return ["", f"The worst {len(entries)} of {model['title']}:", "",
            "| Layer | Shape | Terms | Kernel | Photo | Kelvin | Compared with | Ratio |", "|---|---|---|---|---|---|---|---|",
            *map(row, entries)]


def figures(entries, bar):
    known = ratios(entries)
    return f"{len(entries)} | {statistics.median(known):.2f} | {max(known):.2f} | {len(over(entries, bar))}"


def row(entry):
    kernel = entry["kernel"] or "unknown"
    if entry["kernelInNetwork"] != entry["kernel"]:
        kernel += f"; in the network {entry['kernelInNetwork'] or 'unknown'}"
    ratio = "–" if entry["ratio"] is None else f"{entry['ratio']:.2f}"
    return (f"| {entry['name']} | {entry['shape']} | {entry['terms']} | {kernel} | {entry['photo']} | {error(entry['kelvin'])} | "
            f"{error(entry['base'])} | {ratio} |")


def error(figures):
    return f"{figures['relative']:.1e} ({figures['largest']:.1e})"


def best_classes(entries):
    """One row for each photo."""
    lines = [f"MobileNetV2 with trained weights, photos stretched to 224×224. Unchanged at full: {unchanged(entries, 'full')}, at "
             f"low: {unchanged(entries, 'low')}.", "",
             "| Photo | ONNX Runtime's class | Its probability, over the second's | Full | Low | Error of logits, full | Low |",
             "|---|---|---|---|---|---|---|"]
    for each in entries:
        full, low = each["full"], each["low"]
        lines.append(f"| {each['photo']} | {each['expected']} | {each['probability']:.3f}, {each['margin']:+.3f} | "
                     f"{full['best']} | {low['best']} | {full['relative']:.1e} | {low['relative']:.1e} |")
    return lines


def unchanged(entries, precision):
    return f"{sum(each[precision]['best'] == each['expected'] for each in entries)} of {len(entries)}"
