"""Writes ML Programs with loops and branches whose sizes are known for each iteration, or for the side that is
taken, made with coremltools' builder, and their expected results, from NumPy. Run after `generate.py`, which
rewrites the folder.

    .venv/bin/pip install coremltools==9.0 numpy
    .venv/bin/python Tests/Vectors/HostExecution/programs.py
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


def halved(random):
    """Each iteration adds the positive elements, which become fewer; it ends when there are none."""
    def build(x):
        def goes_on(x, s):
            return mb.greater(x=mb.reduce_max(x=x, axes=[0], keep_dims=False), y=np.float32(0))

        def trip(x, s):
            mask = mb.cast(x=mb.greater(x=x, y=np.float32(0)), dtype="int32")
            found = mb.gather_nd(x=x, indices=mb.non_zero(x=mask))
            sum = mb.reduce_sum(x=found, axes=[0], keep_dims=False)
            return mb.sub(x=x, y=np.float32(0.4)), mb.add(x=s, y=sum)
        x, s = mb.while_loop(_cond=goes_on, _body=trip, loop_vars=(x, np.float32(0)))
        return mb.identity(x=x, name="rest"), mb.mul(x=s, y=np.float32(2), name="y")

    def compute(x):
        s = np.float32(0)
        while x.max() > 0:
            s, x = s + x[x > 0].sum(dtype=np.float32), x - np.float32(0.4)
        return {"rest": x, "y": np.float32(2) * s}
    write("halved", (7,), build, compute, [random.uniform(-1, 1, 7), -random.uniform(0, 1, 7), random.uniform(0, 2, 7)])


def doubled(random):
    """The carried value doubles in each iteration, as often as the first element says."""
    def build(x):
        count = mb.cast(x=mb.slice_by_index(x=x, begin=[0], end=[1]), dtype="int32")
        count = mb.squeeze(x=count, axes=[0])

        def goes_on(i, long):
            return mb.less(x=i, y=count)

        def trip(i, long):
            return mb.add(x=i, y=np.int32(1)), mb.concat(values=(long, mb.mul(x=long, y=np.float32(0.5))), axis=0)
        i, long = mb.while_loop(_cond=goes_on, _body=trip, loop_vars=(np.int32(0), x))
        return mb.relu(x=long, name="y")

    def compute(x):
        long = x
        for _ in range(int(x[0])):
            long = np.concatenate([long, long * np.float32(0.5)])
        return {"y": np.maximum(long, 0)}
    write("doubled", (3,), build, compute, [[n, *random.uniform(-1, 1, 2)] for n in (3, 0, 1, 5)])


def either(random):
    """One side adds what is positive, of which the other would find nothing; that one grows an array and adds it up."""
    def build(x):
        most = mb.reduce_max(x=x, axes=[0], keep_dims=False)

        def found():
            mask = mb.cast(x=mb.greater(x=x, y=np.float32(0)), dtype="int32")
            above = mb.gather_nd(x=x, indices=mb.non_zero(x=mask))
            return mb.reduce_sum(x=above, axes=[0], keep_dims=False), mb.mul(x=most, y=np.float32(3))

        def grown():
            def goes_on(i, long):
                return mb.less(x=i, y=np.int32(3))

            def trip(i, long):
                return mb.add(x=i, y=np.int32(1)), mb.concat(values=(long, mb.mul(x=long, y=np.float32(0.5))), axis=0)
            _, long = mb.while_loop(_cond=goes_on, _body=trip, loop_vars=(np.int32(0), x))
            return mb.reduce_sum(x=long, axes=[0], keep_dims=False), most
        sum, other = mb.cond(pred=mb.greater(x=most, y=np.float32(0)), _true_fn=found, _false_fn=grown)
        return mb.mul(x=sum, y=np.float32(2), name="y"), mb.identity(x=other, name="other")

    def compute(x):
        if x.max() > 0:
            return {"y": np.float32(2) * x[x > 0].sum(dtype=np.float32), "other": np.float32(3) * x.max()}
        long = x
        for _ in range(3):
            long = np.concatenate([long, long * np.float32(0.5)])
        return {"y": np.float32(2) * long.sum(dtype=np.float32), "other": x.max()}
    write("either", (5,), build, compute, [random.uniform(-1, 1, 5), -random.uniform(0.1, 1, 5), random.uniform(0, 2, 5)])


def tiled(random):
    """Each iteration carries twice as much, by another operation than joining, and a branch after the loop returns
    all or a part."""
    def build(x):
        def goes_on(i, long):
            return mb.less(x=mb.cast(x=i, dtype="fp32"), y=mb.reduce_max(x=x, axes=[0], keep_dims=False))

        def trip(i, long):
            return mb.add(x=i, y=np.int32(1)), mb.tile(x=long, reps=[2])
        _, long = mb.while_loop(_cond=goes_on, _body=trip, loop_vars=(np.int32(0), x))
        least = mb.reduce_min(x=x, axes=[0], keep_dims=False)
        part = mb.cond(pred=mb.greater(x=least, y=np.float32(0)), _true_fn=lambda: mb.mul(x=long, y=np.float32(2)),
                       _false_fn=lambda: mb.slice_by_size(x=long, begin=[1], size=[2]))
        return mb.relu(x=part, name="y"), mb.reduce_sum(x=part, axes=[0], keep_dims=True, name="sum")

    def compute(x):
        long = np.tile(x, 2 ** max(0, int(np.ceil(x.max()))))
        part = np.float32(2) * long if x.min() > 0 else long[1:3]
        return {"y": np.maximum(part, 0), "sum": part.sum(keepdims=True, dtype=np.float32)}
    write("tiled", (3,), build, compute, [[1.5, 0.25, 0.5], [-0.5, -0.25, -1], [2.5, 0.5, -0.25], [0.5, 0.25, 0.125]])


def lengthened(random):
    """Each iteration writes after the end of a list that begins with one element."""
    def build(x):
        trips = mb.cast(x=mb.reduce_max(x=x, axes=[0], keep_dims=False), dtype="int32")
        list = mb.make_list(init_length=1, dynamic_length=True, elem_shape=(3,))

        def goes_on(i, list):
            return mb.less(x=i, y=trips)

        def trip(i, list):
            value = mb.mul(x=x, y=mb.cast(x=i, dtype="fp32"))
            return mb.add(x=i, y=np.int32(1)), mb.list_write(ls=list, index=i, value=value)
        _, list = mb.while_loop(_cond=goes_on, _body=trip, loop_vars=(np.int32(0), list))
        rows = mb.list_gather(ls=list, indices=mb.range_1d(start=np.int32(0), end=trips, step=np.int32(1)))
        length = mb.cast(x=mb.list_length(ls=list), dtype="fp32")
        return mb.mul(x=rows, y=np.float32(2), name="y"), mb.add(x=length, y=np.float32(0.5), name="length")

    def compute(x):
        trips = int(x.max())
        rows = [np.float32(2) * x * np.float32(i) for i in range(trips)]
        return {"y": np.reshape(np.float32(rows), (trips, 3)), "length": np.float32(max(trips, 1) + 0.5)}
    write("lengthened", (3,), build, compute, [[n, *random.uniform(-1, 1, 2)] for n in (4, 1, 7, 2)])


if __name__ == "__main__":
    random = np.random.default_rng(14)
    for make in (halved, doubled, either, tiled, lengthened):
        make(random)
