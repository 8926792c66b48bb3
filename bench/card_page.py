"""Writes results/card-NAME.md from the JSON that card.sh run has appended.

Usage: card_page.py OUT [NAME]    OUT is the folder with card.jsonl
"""

import collections
import json
import pathlib
import re
import statistics
import sys

import report

MEGA, GIGA = 1e6, 1e9
CONTENDERS = ("Kelvin automatic", "Kelvin low", "PyTorch eager fp32", "PyTorch CUDA graph fp32", "PyTorch eager fp16",
              "PyTorch CUDA graph fp16", "ncnn full", "ncnn default")
CUBLAS = ("fp32", "TF32", "fp16")


def table(head, rows):
    if not rows:
        return []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def micro(seconds):
    return "–" if seconds is None else f"{1e6 * seconds:,.1f} µs"


def time(seconds):
    """Formats one time, or the median of several."""
    if isinstance(seconds, list):
        seconds = statistics.median(seconds) if seconds else None
    return "–" if seconds is None else f"{1e3 * seconds:.3f} ms"


def agreement(lines):
    return table(["Network", "Device", "Precision", "Largest difference", "Largest output", "Same top-1", "Verdict"], [
        [each["model"], each["device"], each["precision"], f"{each['maxAbsolute']:.1e}", f"{each['scale']:.2g}",
         "yes" if each["sameTop1"] else "no", each["verdict"]] for each in lines])


def bounds(lines):
    return table(["Network", "Checks on (two rounds)", "Checks off (two rounds)", "On / off"], [
        [each["model"], ", ".join(map(time, each["on"])), ", ".join(map(time, each["off"])), f"{each['ratio']:.2f}"]
        for each in lines])


def floors(lines):
    found = floor(lines)
    rows = [[title, micro(found.get(key))] for title, key in (
        ("empty dispatch", "dispatch"), ("empty dispatch and barrier", "dispatchBarrier"), ("submission and wait", "submit"))]
    copies = [[f"{each['bytes'] / 2**20:.0f} MiB {each['way']}", time(each["copied"]), rate(each, "copied"),
               time(each.get("mapped")), rate(each, "mapped")] for each in found.get("copies", ())]
    plain = [f"Plain shader: {found['plain'] / GIGA:,.0f} Gop/s.", ""] if "plain" in found else []
    return [*table(["Floor", "Time"], rows if found else []),
            *table(["Copy", "By the device, with submission and wait", "GB/s", "By the processor", "GB/s"], copies), *plain]


def floor(lines):
    found = {}
    for each in lines:
        found |= each
    return found


def rate(copy, key):
    return f"{copy['bytes'] / copy[key] / GIGA:.1f}" if copy.get(key) else "–"


def by_model(lines, *keys):
    """Returns the lines of each model (and of further keys) as one."""
    found = collections.defaultdict(dict)
    for each in lines:
        found[tuple(each.get(key) for key in ("model", *keys))] |= each
    return found.values()


def accounts(lines, floored):
    rows, counts = [], []
    for each in by_model(lines):
        if "account" in each:
            account = each["account"]
            summed = each["layerSeconds"] + account["endToEnd"] - account["layers"]
            rows.append([each["model"], each["layers"], time(each["layerSeconds"]), time(account["waits"]),
                         time(account["transfers"]), time(account["residual"]), time(each["whole"]),
                         f"{100 * (summed / each['whole'] - 1):+.1f} %"])
        if "counts" in each:
            counted = each["counts"]
            counts.append([each["model"], *(f"{counted[key]:,.1f}" for key in
                                            ("dispatches", "barriers", "submissions", "waits", "copies")),
                           f"{counted['bytes'] / MEGA:.2f} MB", time(expected(counted, floored))])
    return [*table(["Network", "Layers", "Layers' time", "Waits", "Transfers", "Rest", "Whole inference without timers",
                    "Sum against the whole"], rows),
            *table(["Network", "Dispatches", "Barriers", "Submissions", "Waits", "Copies", "Copied",
                    "By the floors alone"], counts)]


def expected(counted, floored):
    """Returns the seconds that an inference's dispatches, barriers and submissions take if they compute nothing."""
    if "submit" not in floored:
        return None
    apart = min(counted["barriers"], counted["dispatches"])
    return (apart * floored["dispatchBarrier"] + (counted["dispatches"] - apart) * floored["dispatch"]
            + counted["submissions"] * floored["submit"])


def products(lines):
    cublas = {(tuple(each["size"]), each["cublas"]): each["seconds"] for each in lines if "cublas" in each}
    rows = []
    for each in lines:
        if "tiles" not in each:
            continue
        size = tuple(each["size"])
        operations = 2 * size[0] * size[1] * size[2]
        best = min(each["tiles"].values(), default=each["seconds"])
        tiles = ", ".join(f"{name} {1e6 * seconds:,.0f}" for name, seconds in sorted(each["tiles"].items(), key=lambda t: t[1]))
        peers = [cublas.get((size, title)) for title in CUBLAS]
        rows.append(["×".join(map(str, size)), each["form"], each["type"], each["kernel"],
                     micro(best), f"{operations / best / GIGA:,.0f}",
                     *("–" if peer is None else f"{micro(peer)} ({best / peer:.1f} ×)" for peer in peers), tiles])
    return table(["Rows × depth × columns", "Form", "Type", "Kernel in use", "Fastest tile", "Gop/s",
                  *(f"cuBLAS {title} (fastest tile / cuBLAS)" for title in CUBLAS), "All tiles, µs"], rows)


def peers(lines):
    found = collections.defaultdict(list)
    for each in lines:
        found[each["model"], each["contender"]].append(each["p50"])
    names = dict.fromkeys(name for name, _ in found)
    present = [each for each in CONTENDERS if any(contender == each for _, contender in found)]
    return table(["Network", *present], [[name, *(time(found.get((name, each), [])) for each in present)] for name in names])


def precision(lines):
    rows = [[each["model"], each["precision"], time(each.get("seconds", [])),
             ", ".join(f"{name} {count}" for name, count in each.get("kernels", {}).items())]
            for each in by_model(lines, "precision")]
    return table(["Network", "Precision", "Inference", "Kernels"], rows)


def tokens(lines):
    rows = []
    for each in by_model(lines, "keys"):
        counts = each.get("counts", {})
        rows.append([each["model"], each["keys"], f"{each['rate']:.1f}" if "rate" in each else "–",
                     *(f"{counts[key]:,.1f}" if counts else "–" for key in ("dispatches", "submissions", "waits", "copies")),
                     f"{counts['bytes'] / MEGA:.1f} MB" if counts else "–", each.get("memory", "–")])
    return table(["Decoder", "Keys", "Tokens/s", "Dispatches a token", "Submissions", "Waits", "Copies", "Copied",
                  "It remembers in"], rows)


def starts(lines):
    return table(["Network", "Device", "Cold", "Cached", "Warm inference"], [
        [each["model"], each["device"], f"{each['cold']:.2f} s", f"{each['warm']:.2f} s", time(each["inference"])]
        for each in lines])


def throughput(lines):
    return table(["Network", "Devices", "In flight", "Inferences/s", "Median", "Layers by device"], [
        [each["model"], each["device"], each["inFlight"], f"{each['rate']:,.1f}", time(each["p50"]),
         ", ".join(f"{unit} {count}" for unit, count in each["placement"].items())] for each in lines])


def conformance(lines):
    return [line for each in lines for line in (f"{each['summary'].lstrip('✔✘ ')}; status {each['status']}.", "",
                                                *(f"- {issue}" for issue in each["issues"]), "")]


PAGES = {"agreement": ("Agreement with the CPU device", agreement), "bounds": ("Bounds checks of buffers", bounds),
         "floors": ("Floors", floors), "accounts": ("One inference, accounted for", accounts),
         "products": ("Products by size and tile", products), "peers": ("Against PyTorch and ncnn", peers),
         "precision": ("Low precision and 8-bit integers", precision), "tokens": ("Tokens", tokens),
         "starts": ("Cold and cached starts", starts), "throughput": ("Throughput", throughput),
         "conformance": ("Conformance", conformance)}


def markdown(lines):
    about = next((each for each in lines if each["part"] == "about"), {})
    page = [f"# Kelvin on {about.get('title', 'a card')}", "",
            f"{about.get('date', 'no date')}, {about.get('device')}, {about.get('driver')}, commit {about.get('commit')}, "
            f"{about.get('processors')} processors, {about.get('kind')}. Written by `bench/card.sh`.", ""]
    if about.get("kind") == "software":
        page += ["**A rehearsal on a software driver: the times are not results.**", ""]
    floored = floor([each for each in lines if each["part"] == "floors" and "missing" not in each])
    for name, (title, text) in PAGES.items():
        own = [each for each in lines if each["part"] == name]
        measured = [each for each in own if not {"missing", "ended"} & set(each)]
        page += [f"## {title}", "", *(text(measured, floored) if name == "accounts" else text(measured))]
        page += [f"- {each['missing']}" for each in own if "missing" in each]
        page += [f"{'' if page[-1] == '' else chr(10)}{each['ended']}, {each['seconds']} s." for each in own if "ended" in each]
        page += [""] if own else ["Not run.", ""]
    return "\n".join(page)


def main():
    out = pathlib.Path(sys.argv[1])
    # An interruption may have cut the last line.
    lines = []
    for line in (out / "card.jsonl").read_text().splitlines():
        try:
            lines.append(json.loads(line))
        except json.JSONDecodeError:
            print(f"card_page.py: a line of {out / 'card.jsonl'} is not whole", file=sys.stderr)
    title = next((each["title"] for each in lines if each["part"] == "about"), "card")
    name = sys.argv[2] if len(sys.argv) > 2 else re.sub(r"[^a-z0-9]+", "-", re.sub(r"\(.*?\)", "", title.lower())).strip("-")
    path = report.RESULTS / f"card-{name}.md"
    path.write_text(markdown(lines))
    print(path)


if __name__ == "__main__":
    main()
