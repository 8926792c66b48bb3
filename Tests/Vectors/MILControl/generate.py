"""Writes ML Programs with blocks and states, made with coremltools' builder, and what they must compute, from NumPy.

Files are in the format that ../README.md describes. The steps of `counter` are one sequence of predictions with one state.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/MILControl/generate.py
"""

import pathlib
import shutil
import sys

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
import kv  # noqa: E402

FLOAT = {"compute_precision": ct.precision.FLOAT32, "convert_to": "mlprogram", "skip_model_load": True}


def write(name, program, steps, target):
    package = HERE / f"{name}.mlpackage"
    shutil.rmtree(package, ignore_errors=True)
    ct.convert(program, minimum_deployment_target=target, **FLOAT).save(str(package))
    for number, (inputs, outputs) in enumerate(steps):
        header = {"case": f"{name}_{number}", "tolerance": {"absolute": 1e-6, "relative": 1e-6}}
        (HERE / f"{name}_{number}.kv").write_bytes(kv.encode(header, inputs, outputs))


def choice():
    """A branch by the sum of the input."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(2, 3))], opset_version=ct.target.iOS16)
    def program(x):
        total = mb.reduce_sum(x=x, axes=[0, 1], keep_dims=False)
        y = mb.cond(pred=mb.greater(x=total, y=np.float32(0)), _true_fn=lambda: mb.mul(x=x, y=np.float32(3)),
                    _false_fn=lambda: mb.sub(x=x, y=np.float32(1)))
        return mb.add(x=y, y=np.float32(1), name="result")
    random = np.random.default_rng(1)
    steps = []
    for shift in (1, -1):
        x = (random.uniform(-1, 1, (2, 3)) + shift).astype(np.float32)
        y = (x * 3 if x.sum() > 0 else x - 1) + 1
        steps.append(([("x", x)], [("result", y.astype(np.float32))]))
    write("choice", program, steps, ct.target.iOS16)


def halving():
    """A loop that goes on while the largest element is above one; it also counts its iterations."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(4,))], opset_version=ct.target.iOS16)
    def program(x):
        def test(v, n):
            return mb.greater(x=mb.reduce_max(x=v, axes=[0], keep_dims=False), y=np.float32(1))

        def body(v, n):
            return mb.mul(x=v, y=np.float32(0.5)), mb.add(x=n, y=np.float32(1))
        v, n = mb.while_loop(_cond=test, _body=body, loop_vars=(x, mb.mul(x=mb.reduce_min(x=x, axes=[0], keep_dims=False), y=np.float32(0))))
        return mb.identity(x=v, name="value"), mb.identity(x=n, name="trips")
    random = np.random.default_rng(2)
    steps = []
    for scale in (0.5, 20, 300):
        x = (random.uniform(0.1, 1, 4) * scale).astype(np.float32)
        v, n = x.copy(), 0
        while v.max() > 1:
            v, n = (v * np.float32(0.5)).astype(np.float32), n + 1
        steps.append(([("x", x)], [("value", v), ("trips", np.float32(n))]))
    write("halving", program, steps, ct.target.iOS16)


def counter():
    """A state that adds up its inputs, read before and after it is written."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3,)), mb.StateTensorSpec((3,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def program(x, total):
        before = mb.read_state(input=total)
        after = mb.coreml_update_state(state=total, value=mb.add(x=before, y=mb.cast(x=x, dtype="fp16")))
        return mb.mul(x=mb.cast(x=after, dtype="fp32"), y=np.float32(2), name="twice"), mb.cast(x=before, dtype="fp32", name="before")
    steps, total = [], np.zeros(3, np.float32)
    for number in range(4):
        x = np.array([1, 2, number], np.float32)
        after = total + x
        steps.append(([("x", x)], [("twice", 2 * after), ("before", total.copy())]))
        total = after
    write("counter", program, steps, ct.target.iOS18)


def gate():
    """A state that one side of a branch updates and the other reads, and that is read behind the branch."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(3,)), mb.StateTensorSpec((3,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def program(x, total):
        held = mb.cast(x=x, dtype="fp16")

        def added():
            return mb.coreml_update_state(state=total, value=mb.add(x=mb.read_state(input=total), y=held))

        def kept():
            return mb.mul(x=mb.read_state(input=total), y=np.float16(-1))
        positive = mb.greater(x=mb.reduce_sum(x=x, axes=[0], keep_dims=False), y=np.float32(0))
        seen = mb.cond(pred=positive, _true_fn=added, _false_fn=kept)
        after = mb.add(x=mb.read_state(input=total), y=np.float16(0))
        return mb.cast(x=seen, dtype="fp32", name="seen"), mb.cast(x=after, dtype="fp32", name="after")
    steps, total = [], np.zeros(3, np.float32)
    for x in ([1, 2, 3], [-1, -2, 0.5], [0, 0, 4], [2, -3, 0]):
        x = np.array(x, np.float32)
        total, seen = (total + x, total + x) if x.sum() > 0 else (total, -total)
        steps.append(([("x", x)], [("seen", seen), ("after", total)]))
    write("gate", program, steps, ct.target.iOS18)


def gathering():
    """States that a loop's iterations update: a sum in each, a record in those of an odd number; the condition reads the sum."""
    @mb.program(input_specs=[mb.TensorSpec(shape=(2,)), mb.StateTensorSpec((2,), dtype=types.fp16),
                             mb.StateTensorSpec((2,), dtype=types.fp16)], opset_version=ct.target.iOS18)
    def program(x, total, record):
        held = mb.cast(x=x, dtype="fp16")

        def test(n, parity, seen):
            least = mb.reduce_min(x=mb.read_state(input=total), axes=[0], keep_dims=False)
            return mb.logical_and(x=mb.less(x=n, y=np.float32(5)), y=mb.less(x=least, y=np.float16(10)))

        def body(n, parity, seen):
            after = mb.coreml_update_state(state=total, value=mb.add(x=mb.read_state(input=total), y=held))

            def noted():
                return mb.coreml_update_state(state=record, value=mb.mul(x=after, y=np.float16(2)))

            def skipped():
                return mb.read_state(input=record)
            seen = mb.cond(pred=mb.greater(x=parity, y=np.float32(0.5)), _true_fn=noted, _false_fn=skipped)
            return mb.add(x=n, y=np.float32(1)), mb.sub(x=np.float32(1), y=parity), seen
        zero = mb.mul(x=mb.reduce_min(x=x, axes=[0], keep_dims=False), y=np.float32(0))
        nothing = mb.mul(x=held, y=np.float16(0))
        n, _, seen = mb.while_loop(_cond=test, _body=body, loop_vars=(zero, zero, nothing))
        after = mb.add(x=mb.read_state(input=total), y=np.float16(0))
        noted = mb.add(x=mb.read_state(input=record), y=np.float16(0))
        return (mb.identity(x=n, name="trips"), mb.cast(x=after, dtype="fp32", name="sum"),
                mb.cast(x=noted, dtype="fp32", name="noted"), mb.cast(x=seen, dtype="fp32", name="seen"))
    steps, total, record = [], np.zeros(2, np.float32), np.zeros(2, np.float32)
    for x in ([1, 2], [1, 0.5], [2, 4], [1, 1]):
        x, n, seen = np.array(x, np.float32), 0, np.zeros(2, np.float32)
        while n < 5 and total.min() < 10:
            total = total + x
            if n % 2 == 1:
                record = 2 * total
            n, seen = n + 1, record
        steps.append(([("x", x)], [("trips", np.float32(n)), ("sum", total), ("noted", record), ("seen", seen)]))
    write("gathering", program, steps, ct.target.iOS18)


for old in HERE.glob("*.kv"):
    old.unlink()
choice()
halving()
counter()
gate()
gathering()
