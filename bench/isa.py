"""Comparisons with narrower vectors than a machine has: limits each contender, and checks the kernels that ran."""

import json

import contenders

# Variables by instruction set. oneDNN's variable applies to the OpenVINO kernels that oneDNN generates.
OPENVINO = {"avx2": {"ONEDNN_MAX_CPU_ISA": "AVX2"}}
KELVIN = {"avx2": {"KELVIN_CPU_VARIANT": "avx2"}}
VECTOR = {"avx2": 32}  # bytes
WIDER = {"avx2": ("avx512", "avx10", "amx")}
# Products that OpenVINO delegates to a library that detects the processor itself.
UNTOLD = ("mlas",)


def check_kelvin(binary, isa):
    """Fails if the binary uses another instruction set than requested."""
    found = contenders.driver(binary, tuple(KELVIN[isa].items()))
    if found.split()[0] != isa:
        variables = " ".join(f"{name}={value}" for name, value in KELVIN[isa].items())
        raise contenders.ContenderFailed(f"with {variables} {binary} computes with {found}, not with {isa}")


def openvino_kernels(peer, isa):
    """Returns a peer's kernels in an untimed inference of OpenVINO: the processor according to oneDNN and the
    implementations that it logged, the kernels of all nodes, and the kernels that are wider than requested or have
    unknown width."""
    command = [*peer.command(0), "--kernels"]
    nodes = json.loads(contenders.run(command, peer.processors, peer.environment).splitlines()[-1])
    try:
        log = contenders.run(command, peer.processors, (*peer.environment, ("ONEDNN_VERBOSE", "1")))
    except contenders.ContenderFailed as failure:
        # OpenVINO 2026.4 fails occasionally when oneDNN logs; the log until then is used.
        log = failure.output
    fields = [line.split(",") for line in log.splitlines() if line.startswith("onednn_verbose,")]
    return {"processor": sorted({field[4].removeprefix("isa:") for field in fields
                                 if field[2:4] == ["info", "cpu"] and field[4].startswith("isa:")}),
            "logged": sorted({" ".join(field[5:7]) for field in fields if field[2:4] == ["primitive", "exec"]}),
            "nodes": nodes,
            "wider": [name for name in nodes if any(mark in name for mark in WIDER[isa])],
            "untold": [name for name in nodes if any(mark in name for mark in UNTOLD)]}
