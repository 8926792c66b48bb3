"""Runs graphs on Kelvin and on ONNX Runtime, and reduces graphs whose results differ."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

from drawing import assembled, computed, outer_reads

#: The largest difference that counts as equal, of the output's range.
TOLERANCE = 2e-4


def differ(found, wanted):
    """Returns how a result differs from the expected one, or None."""
    found = np.asarray(found)
    if found.shape != wanted.shape:
        return f"shape {found.shape} for {wanted.shape}"
    if found.dtype != wanted.dtype:
        return f"type {found.dtype} for {wanted.dtype}"
    if not wanted.size:
        return None
    if wanted.dtype.kind != "f":
        return None if np.array_equal(found, wanted) else f"{int((found != wanted).sum())} of {wanted.size} differ"
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    if not np.array_equal(np.isnan(a), np.isnan(b)):
        return "not a number in other places"
    scale = max(np.ptp(b[np.isfinite(b)]) if np.isfinite(b).any() else 0, np.abs(b[np.isfinite(b)]).max(initial=0) * 0.05, 1e-2)
    with np.errstate(invalid="ignore"):
        apart = np.where(a == b, 0, np.abs(a - b))
    worst = np.nanmax(apart, initial=0) / scale
    return None if worst <= TOLERANCE else f"{worst:.1e} of the range"


def tried(model, inputs):
    """Returns a graph's outcome on Kelvin: passed, differs, failed or refused, and the message."""
    import kelvin
    from kelvin.onnx import InferenceSession, SessionOptions
    try:
        wanted = computed(model, inputs)
    # Reduction also tries invalid graphs.
    except Exception as error:
        return "invalid", str(error)
    options = SessionOptions()
    options.kelvin = {"precision": "full", "no_cache": True}
    try:
        found = InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]).run(None, inputs)
    except kelvin.UnsupportedError as error:
        return "refused", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    for item, got, right in zip(model.graph.output, found, wanted):
        if (said := differ(got, right)) is not None:
            return "differs", f"{item.name}: {said}"
    return "passed", ""


def isolated(model, inputs):
    """The same as `tried`, in a process that may crash."""
    with tempfile.TemporaryDirectory() as folder:
        save(pathlib.Path(folder), model, inputs)
        try:
            ran = subprocess.run(
                [sys.executable, pathlib.Path(__file__).parent, "--try", folder], capture_output=True, text=True, check=False,
                timeout=60)
        except subprocess.TimeoutExpired:
            return "failed", "did not end within 60 s"
        if ran.returncode:
            return "failed", f"ended with {ran.returncode}: {ran.stderr[-300:]}"
        return tuple(json.loads(ran.stdout.splitlines()[-1]))


def save(folder, model, inputs):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / "model.onnx")
    np.savez(folder / "inputs.npz", **inputs)


def restore(folder):
    with np.load(folder / "inputs.npz") as file:
        return onnx.load(folder / "model.onnx"), {name: file[name] for name in file.files}


def reduced_to(model, inputs, kinds, attempt):
    """Returns the fewest nodes with the same outcome; removed values become inputs."""
    arrays = everything(model, inputs)
    opens = any(size.dim_param for item in model.graph.input for size in item.type.tensor_type.shape.dim)
    constants = {item.name: numpy_helper.to_array(item) for item in model.graph.initializer}
    best = None

    def ends(nodes, outputs, opens):
        made = {name for node in nodes for name in node.output}
        read = set(outer_reads(nodes))
        given = {n: a for n, a in arrays.items() if n in read and n not in made and n not in constants}
        candidate = assembled(nodes, given, constants, outputs, arrays, opens)
        return (candidate, given) if attempt(candidate, given)[0] in kinds else None

    nodes, outputs = list(model.graph.node), [item.name for item in model.graph.output]
    for name in outputs:
        if (kept := ends(nodes, [name], opens)) is not None:
            best, outputs = kept, [name]
            break
    changed = True
    while changed and len(nodes) > 1:
        changed = False
        for index in reversed(range(len(nodes))):
            rest = nodes[:index] + nodes[index + 1:]
            made = {name for node in rest for name in node.output}
            read = set(outer_reads(rest))
            leaves = [name for name in outputs if name in made] or [
                name for node in rest for name in node.output if name not in read and name in arrays]
            if leaves and (kept := ends(rest, leaves, opens)) is not None:
                best, nodes, outputs, changed = kept, rest, leaves, True
    if opens and (kept := ends(nodes, outputs, False)) is not None:
        best = kept
    return best or (model, inputs)


def everything(model, inputs):
    """Returns all values of a graph, by ONNX Runtime."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.output[:]
    names = [name for node in model.graph.node for name in node.output if name]
    copy.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return {**inputs, **dict(zip(names, computed(copy, inputs)))}
