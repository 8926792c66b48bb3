#!/usr/bin/env python3
"""Writes ML Programs in forms that few exporters write, and the results of NumPy's formulas.

    python3 -m venv .venv && .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python programs.py

`NAME.mlmodel` is a model; `coreml.json` has the form of ../Parts/expected.json."""

import json
import pathlib

import coremltools as ct
import numpy as np
from coremltools.converters.mil.backend.mil import load
from coremltools.converters.mil.mil import Builder as mb
from coremltools.converters.mil.mil import get_new_symbol, types

FOLDER = pathlib.Path(__file__).parent
load.should_use_weight_file = lambda *_, **__: False
expected = {}


def value(array):
    return {"numbers": np.asarray(array, float).ravel().tolist(), "shape": list(np.shape(array))}


def write(name, shape, body, cases):
    """`cases`: inputs and results."""
    program = mb.program(input_specs=[mb.TensorSpec(shape=shape, dtype=types.fp32)], opset_version=ct.target.iOS15)(body)
    flexible = [ct.TensorType("x", ct.Shape([d if isinstance(d, int) else ct.RangeDim(1, 8) for d in shape]))]
    model = ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS15, skip_model_load=True,
        inputs=flexible if any(not isinstance(d, int) for d in shape) else None,
        compute_precision=ct.precision.FLOAT32, pass_pipeline=ct.PassPipeline.EMPTY)
    (FOLDER / f"{name}.mlmodel").write_bytes(model.get_spec().SerializeToString(deterministic=True))
    output = model.get_spec().description.output[0].name
    expected[name] = [{"inputs": {"x": value(x)}, "outputs": {output: value(y)}} for x, y in cases]


def written(x):
    # The first axis of the elements has a name, and its size is that of the first element written.
    elements = mb.make_list(init_length=3, dynamic_length=True, elem_shape=("is0", 4), dtype="fp32")
    elements = mb.list_write(ls=elements, index=0, value=x)
    elements = mb.list_write(ls=elements, index=2, value=mb.mul(x=x, y=2.0))
    return mb.list_gather(ls=elements, indices=[0, 1, 2])


def looped(x):
    elements = mb.make_list(init_length=1, dynamic_length=True, elem_shape=("is0", 4), dtype="fp32")

    def go_on(index, elements):
        return mb.less(x=index, y=3)

    def step(index, elements):
        scaled = mb.mul(x=x, y=mb.cast(x=index, dtype="fp32"))
        return mb.add(x=index, y=1), mb.list_write(ls=elements, index=index, value=scaled)

    _, elements = mb.while_loop(_cond=go_on, _body=step, loop_vars=(0, elements))
    return mb.list_gather(ls=elements, indices=[0, 1, 2])


def enumerated(name, shapes, body, cases):
    """Writes a program whose inputs have lists of shapes. `shapes`: by input."""
    specs = [mb.TensorSpec(shape=tuple(
        size if all(shape[axis] == size for shape in allowed) else get_new_symbol() for axis, size in enumerate(allowed[0])),
        dtype=types.fp32) for allowed in shapes.values()]
    program = mb.program(input_specs=specs, opset_version=ct.target.iOS18)(body)
    model = ct.convert(
        program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS18, skip_model_load=True,
        inputs=[ct.TensorType(key, ct.EnumeratedShapes(allowed)) for key, allowed in shapes.items()],
        compute_precision=ct.precision.FLOAT32, pass_pipeline=ct.PassPipeline.EMPTY)
    (FOLDER / f"{name}.mlmodel").write_bytes(model.get_spec().SerializeToString(deterministic=True))
    output = model.get_spec().description.output[0].name
    expected[name] = [{"inputs": {key: value(array) for key, array in inputs.items()}, "outputs": {output: value(y)}} for inputs, y in cases]


x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
wide = np.linspace(0, 3, 20, dtype=np.float32).reshape(5, 4)
write("named_list", (2, 4), written, [(x, np.stack([x, 0 * x, 2 * x]))])
write("named_list_open", (get_new_symbol(), 4), written, [(z, np.stack([z, 0 * z, 2 * z])) for z in (x, wide)])
write("named_list_loop", (2, 4), looped, [(x, np.stack([0 * x, x, 2 * x]))])
write("named_list_loop_open", (get_new_symbol(), 4), looped, [(z, np.stack([0 * z, z, 2 * z])) for z in (x, wide)])

# The batch must not collapse to the first of the shapes, and two lists of shapes are independent.
weight = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
R = np.random.default_rng(20261130)
batches = [R.uniform(-1, 1, (n, 4)).astype(np.float32) for n in (8, 1, 16)]
enumerated("enumerated_batch", {"x": [(1, 4), (8, 4), (16, 4)]}, lambda x: mb.linear(x=x, weight=weight), [
    ({"x": z}, z @ weight.T) for z in batches])
first = [R.uniform(-1, 1, (1, 3, n)).astype(np.float32) for n in (2, 4)]
second = [R.uniform(-1, 1, (1, 3, n)).astype(np.float32) for n in (5, 7)]
enumerated("enumerated_lengths", {"x": [a.shape for a in first], "z": [b.shape for b in second]}, (
    lambda x, z: mb.matmul(x=x, y=z, transpose_x=True)), [
        ({"x": a, "z": b}, a.swapaxes(1, 2) @ b) for a in first for b in second])
lines = [f"{json.dumps(name)}: {json.dumps(cases)}" for name, cases in expected.items()]
(FOLDER / "coreml.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
