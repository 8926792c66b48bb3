#!/usr/bin/env python3
"""Writes Profiles/devices/sample-discrete-gpu.json: a machine with a discrete GPU that exists only as arithmetic.

Nothing in it was measured. A node takes `overhead + max(operations / rate, bytes / bandwidth)`; the figures below are
published specifications times a stated share of them that kernels are taken to reach. It answers questions of the form
"where would the split be on such a machine", and it is labelled as a sample wherever it is used.

The graph is a single-shot detector on a MobileNet-like backbone for 320x320 images, described here layer by layer.

  dev/make-sample-profile.py [FILE]
"""

import json
import math
import os
import sys

THREADS = 8

# Specifications, and the assumed share of the peak that each family of operators reaches.
CPU = {
    # 8 cores x 3.6 GHz x 2 units x 8 lanes x 2 (multiply-add): AVX2.
    "flops": 8 * 3.6e9 * 32,
    # DDR4-3200, two channels of 8 bytes (JEDEC JESD79-4): 51.2 GB/s, of which 70 %.
    "bandwidth": 51.2e9 * 0.7,
    # A fork and join of eight spinning threads.
    "overhead": 2e-6,
    "efficiency": {"convolution": 0.5, "convolution 1x1": 0.55, "convolution depthwise": 0.12},
    "otherwise": 0.05,
    "idleWatts": 10, "busyWatts": 65,
}
GPU = {
    # GeForce RTX 3060 as NVIDIA specifies it: 3584 cores at 1.78 GHz, 360 GB/s, 170 W board power.
    "flops": 3584 * 1.78e9 * 2,
    "bandwidth": 360e9 * 0.75,
    # One dispatch of a recorded command buffer, with the barrier after it.
    "overhead": 6e-6,
    "efficiency": {"convolution": 0.4, "convolution 1x1": 0.4, "convolution depthwise": 0.06},
    "otherwise": 0.05,
    # 28 multiprocessors x 1536 threads: with fewer results the GPU is not filled.
    "fill": 28 * 1536,
    "idleWatts": 15, "busyWatts": 170,
}
LINK = {
    # PCI Express 4.0 x16: 16 GT/s x 16 lanes x 128/130 / 8 = 31.5 GB/s each way, of which 80 %.
    "bytesPerSecond": 16e9 * 16 * 128 / 130 / 8 * 0.8,
    # A submission, its fence and the host's wake-up.
    "latency": 15e-6,
    "watts": 15,
}


class Graph:
    """Layers with their work; values are float32."""

    def __init__(self):
        self.nodes, self.bytes, self.shapes, self.work, self.costs = [], {}, {}, {}, {}

    def add(self, name, op, inputs, shape, operations, weights=0, only_cpu=None):
        count = math.prod(shape)
        bytes_ = 4 * (sum(math.prod(self.shapes[i]) for i in inputs) + count + weights)
        text = "x".join(map(str, shape))
        sources = ", ".join("x".join(map(str, self.shapes[i])) for i in inputs)
        key = f"{op} ({sources}) -> {text}, {weights} weights, full {THREADS}t"
        node = {"name": name, "key": key, "inputs": list(inputs), "outputs": [{"value": name, "bytes": 4 * count}]}
        if only_cpu:
            node["unsupported"] = {"vulkan:0": only_cpu}
        self.nodes.append(node)
        self.shapes[name] = shape
        self.work[key] = {"op": op, "operations": operations, "bytes": bytes_}
        self.costs[key] = {"cpu": cost(CPU, op, operations, bytes_, count)}
        if not only_cpu:
            self.costs[key]["vulkan:0"] = cost(GPU, op, operations, bytes_, count)
        return name

    def convolution(self, name, x, channels, kernel=3, stride=1, groups=1):
        _, c, h, w = self.shapes[x]
        shape = (1, channels, -(-h // stride), -(-w // stride))
        weights = channels * (c // groups) * kernel * kernel
        op = "convolution depthwise" if groups > 1 else "convolution 1x1" if kernel == 1 else "convolution"
        return self.add(name, op, [x], shape, 2 * weights * shape[2] * shape[3], weights)

    def separable(self, name, x, channels, stride=1):
        inside = self.shapes[x][1]
        d = self.convolution(f"{name}/depthwise", x, inside, 3, stride, groups=inside)
        return self.convolution(f"{name}/pointwise", d, channels, 1)


def cost(device, op, operations, bytes_, results):
    share = device["efficiency"].get(op, device["otherwise"])
    share *= min(1, results / device["fill"]) if "fill" in device else 1
    seconds = device["overhead"] + max(operations / (device["flops"] * share), bytes_ / device["bandwidth"])
    return {"seconds": seconds, "joules": seconds * (device["busyWatts"] - device["idleWatts"])}


def detector():
    g = Graph()
    g.shapes["image"] = (1, 3, 320, 320)
    x = g.convolution("stem", "image", 32, 3, 2)
    plan = [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5
    for i, (channels, stride) in enumerate(plan):
        x = g.separable(f"block{i}", x, channels, stride)
    levels = [x]
    x = g.separable("block11", x, 1024, 2)
    x = g.separable("block12", x, 1024)
    levels.append(x)
    for i, (middle, channels) in enumerate([(256, 512), (128, 256), (128, 256), (64, 128)]):
        x = g.convolution(f"extra{i}/reduce", x, middle, 1)
        x = g.convolution(f"extra{i}/depthwise", x, middle, 3, 2, groups=middle)
        x = g.convolution(f"extra{i}/expand", x, channels, 1)
        levels.append(x)
    classes, anchors, parts = 21, 6, []
    width = classes + 4
    for i, level in enumerate(levels):
        _, _, h, w = g.shapes[level]
        head = g.separable(f"level{i}", level, anchors * width)
        parts.append(g.add(f"level{i}/rows", "transpose", [head], (1, h * w * anchors, width), 0))
    rows = sum(g.shapes[part][1] for part in parts)
    joined = g.add("rows", "concat", parts, (1, rows, width), 0)
    scores = g.add("scores", "slice", [joined], (1, rows, classes), 0)
    offsets = g.add("offsets", "slice", [joined], (1, rows, 4), 0)
    likely = g.add("probabilities", "softmax", [scores], (1, rows, classes), 5 * rows * classes)
    corners = g.add("corners", "binary", [offsets], (1, rows, 4), 8 * rows * 4)
    kept = g.add(
        "detections", "non_maximum_suppression", [likely, corners], (1, 100, 6), rows * classes * 20,
        only_cpu="non_maximum_suppression has no kernel there")
    return g, kept


def main():
    graph, result = detector()
    compile_ = {"cpu": 2e-4, "vulkan:0": 8e-3}
    for by_device in graph.costs.values():
        for device, entry in by_device.items():
            entry["compile"] = compile_[device]
            entry["cold"] = 2 * entry["seconds"]
    link = {"latency": LINK["latency"], "bytesPerSecond": LINK["bytesPerSecond"], "watts": LINK["watts"]}
    profile = {
        "format": "kelvin-profile", "version": 3, "kelvinVersion": "0.1.0", "label": "sample",
        "note": "computed by dev/make-sample-profile.py from specifications (8 AVX2 cores with DDR4-3200; an RTX 3060 "
                "class card at PCIe 4.0 x16) and stated efficiencies; nothing was measured",
        "machine": {"processor": "Sample desktop", "architecture": "x86_64", "logicalCores": THREADS,
                    "memoryBytes": 32 << 30, "kernel": "none", "isVirtualised": False},
        "devices": [
            {"id": "cpu", "name": "Sample CPU, 8 AVX2 cores", "driver": "sample", "version": "", "kind": "cpu",
             "resource": "cpu", "memory": 32 << 30,
             "power": {"idleWatts": CPU["idleWatts"], "busyWatts": CPU["busyWatts"],
                       "source": "a 65 W desktop processor's rated power"}},
            {"id": "vulkan:0", "name": "Sample discrete GPU, RTX 3060 class", "driver": "sample", "version": "",
             "kind": "discrete GPU", "resource": "card", "memory": 12 << 30,
             "power": {"idleWatts": GPU["idleWatts"], "busyWatts": GPU["busyWatts"],
                       "source": "the card's specified board power"}},
        ],
        "nodes": graph.costs, "work": graph.work,
        "transfers": [{"from": "cpu", "to": "vulkan:0", **link}, {"from": "vulkan:0", "to": "cpu", **link}],
        "corun": [{"a": "cpu", "b": "vulkan:0", "factor": 1.9, "samples": 1, "isNoisy": False}],
        "startup": {"sample-detector": {
            "cpu": {"load": 0.01, "compile": 2e-4 * len(graph.nodes), "firstRun": 0.01},
            "vulkan:0": {"load": 0.01, "compile": 0.15 + 8e-3 * len(graph.nodes), "firstRun": 0.01}}},
        "models": {"sample-detector": {
            "name": "sample-detector", "function": "main", "precision": "automatic", "threads": THREADS,
            "inputs": [{"value": "image", "bytes": 4 * 3 * 320 * 320}], "outputs": [result],
            "nodes": graph.nodes}},
    }

    def rounded(value):
        if isinstance(value, float):
            return float(f"{value:.4g}")
        if isinstance(value, dict):
            return {k: rounded(v) for k, v in value.items()}
        return [rounded(v) for v in value] if isinstance(value, list) else value

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Profiles", "devices")
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder, "sample-discrete-gpu.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(rounded(profile), file, indent=1, ensure_ascii=False)
        file.write("\n")


if __name__ == "__main__":
    main()
