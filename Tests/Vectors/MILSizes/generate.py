"""Writes ML Programs whose sizes depend on data, made with coremltools' builder, and what they must compute, from NumPy.

One model has one `.mlmodel` file, constants inside, and a `.kv` file for each of several inputs that find different
sizes, in the format that ../README.md describes.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/MILSizes/generate.py
"""

import pathlib
import sys

import coremltools as ct
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.backend.mil import load

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
load.should_use_weight_file = lambda *_, **__: False

import kv  # noqa: E402


def write(name, shape, build, compute, sets):
    """build: from the input `x` to named outputs; compute: an array to the outputs by name; sets: arrays."""
    program = mb.program(input_specs=[mb.TensorSpec(shape=shape)], opset_version=ct.target.iOS17)(build)
    model = ct.convert(program, convert_to="mlprogram", minimum_deployment_target=ct.target.iOS17, skip_model_load=True,
                       compute_precision=ct.precision.FLOAT32, pass_pipeline=ct.PassPipeline.EMPTY)
    (HERE / f"{name}.mlmodel").write_bytes(model.get_spec().SerializeToString())
    for number, x in enumerate(sets):
        x = np.asarray(x, np.float32)
        header = {"case": f"{name}_{number}", "tolerance": {"absolute": 2e-6, "relative": 1e-5}}
        outputs = [(key, np.asarray(array)) for key, array in compute(x).items()]
        (HERE / f"{name}_{number}.kv").write_bytes(kv.encode(header, [("x", x)], outputs))


def floats(random, *shape, shift=0.0):
    return (random.uniform(-1, 1, shape) + shift).astype(np.float32)


def places(random):
    """The indices that a run finds are an output."""
    def build(x):
        return mb.non_zero(x=x, name="y")
    write("places", (3, 4), build, lambda x: {"y": np.argwhere(x != 0).astype(np.int32)},
          [floats(random, 3, 4) * (random.uniform(0, 1, (3, 4)) < p) for p in (0.5, 0, 2)])


def picked(random):
    """Elements by a mask, as x[x > 0] is exported, twice as large; their sum; and how many there are."""
    def build(x):
        mask = mb.cast(x=mb.greater(x=x, y=np.float32(0)), dtype="int32")
        found = mb.gather_nd(x=x, indices=mb.non_zero(x=mask))
        y = mb.mul(x=found, y=np.float32(2), name="y")
        return (y, mb.reduce_sum(x=y, axes=[0], keep_dims=True, name="sum"), mb.shape(x=found, name="count"))

    def compute(x):
        y = x[x > 0] * np.float32(2)
        return {"y": y, "sum": y.sum(keepdims=True), "count": np.array(y.shape, np.int32)}
    write("picked", (3, 4), build, compute, [floats(random, 3, 4, shift=s) for s in (0, -3, 3, 0.2)])


def unique(random):
    """torch.unique with inverse and counts, operation for operation as coremltools exports it."""
    def build(x):
        order = mb.argsort(x=x, ascending=True)
        ordered = mb.gather_along_axis(x=x, indices=order)
        before = mb.pad(x=ordered, pad=[1, 0], constant_val=np.float32(-np.inf))
        padded = mb.pad(x=ordered, pad=[0, 1], mode="replicate")
        rows = mb.gather(x=ordered, indices=mb.non_zero(x=mb.sub(x=padded, y=before)))
        y = mb.squeeze(x=rows, name="y")
        count = mb.shape(x=y)
        tiled = mb.reshape(x=mb.tile(x=x, reps=count), shape=mb.concat(values=(count, mb.shape(x=x)), axis=0))
        same = mb.logical_not(x=mb.cast(x=mb.sub(x=tiled, y=rows), dtype="bool"))
        steps = mb.range_1d(start=0, end=mb.squeeze(x=count), step=1)
        inverse = mb.matmul(x=mb.cast(x=steps, dtype="fp32"), y=mb.cast(x=same, dtype="fp32"))
        return (y, mb.reshape(x=inverse, shape=mb.shape(x=x), name="inverse"),
                mb.reduce_sum(x=mb.cast(x=same, dtype="int32"), axes=(-1,), name="counts"))

    def compute(x):
        y, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
        return {"y": y, "inverse": inverse.astype(np.float32), "counts": counts.astype(np.int32)}
    write("unique", (10,), build, compute, [random.integers(0, high, 10) for high in (3, 6, 1000)])


def sizes(random):
    """Sizes that are computed from the data, in every operation that takes them."""
    def build(x):
        n = mb.reduce_sum(x=mb.cast(x=x, dtype="int32"), axes=[0], keep_dims=True)
        number = mb.squeeze(x=n)
        row = np.float32([1, 2, 3])
        both = mb.concat(values=(n, np.int32([3])), axis=0)
        turned = mb.concat(values=(np.int32([3]), n), axis=0)
        filled = mb.add(x=mb.fill(shape=both, value=np.float32(1)), y=row)
        return (mb.reshape(x=filled, shape=turned, name="y"), mb.range_1d(start=0, end=number, step=1, name="steps"),
                mb.tile(x=mb.identity(x=row), reps=n, name="tiled"),
                mb.slice_by_index(x=x, begin=[0], end=n, name="front"),
                mb.slice_by_size(x=x, begin=[1], size=n, name="from_one"))

    def compute(x):
        n = int(x.sum())
        row = np.float32([1, 2, 3])
        return {"y": (np.ones((n, 3), np.float32) + row).reshape(3, n), "steps": np.arange(n, dtype=np.int32),
                "tiled": np.tile(row, n), "front": x[:n], "from_one": x[1:1 + n]}
    write("sizes", (6,), build, compute, [[1, 0, 2, 0, 1, 1], [1, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 0]])


def inside(random):
    """Found elements are read inside a branch and a loop."""
    def build(x):
        found = mb.gather(x=x, indices=mb.squeeze(x=mb.non_zero(x=mb.cast(x=mb.greater(x=x, y=np.float32(0)), dtype="int32")), axes=[1]))
        total = mb.reduce_sum(x=found, axes=[0], keep_dims=False)

        def test(v):
            return mb.less(x=v, y=np.float32(4))

        def body(v):
            return mb.add(x=mb.add(x=v, y=mb.reduce_max(x=found, axes=[0], keep_dims=False)), y=np.float32(0.5))
        grown = mb.while_loop(_cond=test, _body=body, loop_vars=(total,))
        y = mb.cond(pred=mb.greater(x=total, y=np.float32(2)), _true_fn=lambda: mb.reduce_max(x=found, axes=[0], keep_dims=False),
                    _false_fn=lambda: mb.reduce_min(x=found, axes=[0], keep_dims=False))
        return mb.identity(x=y, name="y"), mb.identity(x=grown[0] if isinstance(grown, (tuple, list)) else grown, name="grown")

    def compute(x):
        found = x[x > 0]
        total = found.sum()
        grown = total
        while grown < 4:
            grown = np.float32(grown + found.max() + np.float32(0.5))
        return {"y": found.max() if total > 2 else found.min(), "grown": np.float32(grown)}
    write("inside", (8,), build, compute, [floats(random, 8, shift=s) for s in (0, 0.6, -0.7)])


def classes(random):
    """As many classes as the data names."""
    def build(x):
        labels = mb.cast(x=x, dtype="int32")
        count = mb.add(x=mb.reduce_max(x=labels, axes=[0], keep_dims=False), y=np.int32(1))
        return mb.one_hot(indices=labels, one_hot_vector_size=count, axis=0, on_value=np.float32(2), off_value=np.float32(-1),
                          name="y")
    write("classes", (5,), build, lambda x: {"y": np.where(np.arange(x.max() + 1)[:, None] == x, 2, -1).astype(np.float32)},
          [[0, 3, 1, 1, 2], [0, 0, 0, 0, 0], [1, 0, 6, 2, 6]])


if __name__ == "__main__":
    for old in [*HERE.glob("*.mlmodel"), *HERE.glob("*.kv")]:
        old.unlink()
    for number, make in enumerate((places, picked, unique, sizes, inside, classes)):
        make(np.random.default_rng(number))
