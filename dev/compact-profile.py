#!/usr/bin/env python3
"""Reduces a profile to the size of a shipped one: one device, its costs and links, three digits.

  kelvin profile MODEL --save one.json            for a few models, on a quiet machine
  kelvin profile --merge one.json two.json --save all.json
  dev/compact-profile.py all.json DEVICE Profiles/devices/NAME.json

Graphs, starts and statistics are left out: a shipped profile stands in for devices of its class, it plans no model.
"""

import json
import re
import sys

HOST = "cpu"


def rounded(value):
    return float(f"{value:.3g}")


def main():
    source, device, target = sys.argv[1:4]
    with open(source, encoding="utf-8") as file:
        profile = json.load(file)
    costs = {}
    for key, by_device in profile["nodes"].items():
        cost = by_device.get(device)
        if cost and cost["seconds"] > 0:
            costs[key] = {device: {
                name: rounded(cost[name]) for name in ("seconds", "cold", "compile") if name in cost}}
    machine = profile["machine"]
    machine["kernel"] = re.match(r"[0-9.]*", machine["kernel"]).group()
    kept = {
        "format": profile["format"], "version": profile["version"], "kelvinVersion": profile["kelvinVersion"],
        "label": "measured",
        "note": f"{len(costs)} layers measured on {machine['processor']}, {machine['logicalCores']} cores"
                + (", in a virtual machine" if machine["isVirtualised"] else ""),
        "machine": machine,
        "devices": [d for d in profile["devices"] if d["id"] in (device, HOST)],
        "nodes": costs,
        "work": {key: work for key, work in profile["work"].items() if key in costs},
        "transfers": [
            {"from": t["from"], "to": t["to"], "latency": rounded(t["latency"]),
             "bytesPerSecond": rounded(t["bytesPerSecond"])}
            for t in profile["transfers"] if {t["from"], t["to"]} == {device, HOST}],
    }
    with open(target, "w", encoding="utf-8") as file:
        json.dump(kept, file, indent=1, ensure_ascii=False, sort_keys=True)
        file.write("\n")
    print(f"{target}: {len(costs)} layers of {device}")


if __name__ == "__main__":
    main()
