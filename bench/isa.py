"""Comparisons with narrower vectors than a machine has: how each contender is limited, and what then really ran."""

import json

import contenders

# Variables by instruction set. oneDNN's holds for OpenVINO's kernels that are made by it.
OPENVINO = {"avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"}}
KELVIN = {"avx2": {"KELVIN_CPU_VARIANT": "avx2"}}
VECTOR = {"avx2": 32}  # bytes
WIDER = {"avx2": ("avx512", "avx10", "amx")}
# Products that OpenVINO leaves to a library which looks at the processor itself.
UNTOLD = ("mlas",)


def check_kelvin(binary, isa):
    """Fails where the binary computes with something else than was asked for."""
    found = contenders.driver(binary, tuple(KELVIN[isa].items()))
    if found.split()[0] != isa:
        variables = " ".join(f"{name}={value}" for name, value in KELVIN[isa].items())
        raise contenders.ContenderFailed(f"with {variables} {binary} computes with {found}, not with {isa}")


def openvino_kernels(peer, isa):
    """What a peer of OpenVINO ran in an untimed inference: what oneDNN takes the processor for and the implementations that it
    logged, the kernels of all nodes, and those among them that are wider than asked for or do not tell."""
    command = [*peer.command(0), "--kernels"]
    nodes = json.loads(contenders.run(command, peer.processors, peer.environment).splitlines()[-1])
    try:
        log = contenders.run(command, peer.processors, (*peer.environment, ("ONEDNN_VERBOSE", "1")))
    except contenders.ContenderFailed as failure:
        # OpenVINO 2026.4 fails now and then when oneDNN logs; what was logged until then counts.
        log = failure.output
    fields = [line.split(",") for line in log.splitlines() if line.startswith("onednn_verbose,")]
    return {"processor": sorted({field[4].removeprefix("isa:") for field in fields
                                 if field[2:4] == ["info", "cpu"] and field[4].startswith("isa:")}),
            "logged": sorted({" ".join(field[5:7]) for field in fields if field[2:4] == ["primitive", "exec"]}),
            "nodes": nodes,
            "wider": [name for name in nodes if any(mark in name for mark in WIDER[isa])],
            "untold": [name for name in nodes if any(mark in name for mark in UNTOLD)]}
