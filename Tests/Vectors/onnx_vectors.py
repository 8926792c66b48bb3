"""Shared parts of the generators of `Control` and `DataSizes`: short names for ONNX's helpers, and the files of a
folder."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import kv

F, I, B = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def constant(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def write(folder, makers, inputs_of, opsets=None, **checks):
    """Writes each model, and for each of its sets of inputs what ONNX Runtime gives, in place of what is there.

    makers: functions that make a graph, or one and the functions that it calls, whose names are the models'.
    inputs_of: a model's name and a random generator to a list of inputs by name.
    opsets: by name, the operator set of a model, which is 17 unless said.
    checks: for onnx.checker.
    """
    for old in [*folder.glob("*.onnx"), *folder.glob("*.kv")]:
        old.unlink()
    for make in makers:
        name = make.__name__
        graph, functions = made if isinstance(made := make(), tuple) else (made, [])
        domains = sorted({"", *(function.domain for function in functions), *(step.domain for step in graph.node)})
        model = helper.make_model(
            graph, opset_imports=[
                helper.make_opsetid(domain, 1 if domain else (opsets or {}).get(name, 17)) for domain in domains], ir_version=9,
            producer_name="Kelvin vectors", functions=functions)
        onnx.checker.check_model(model, **checks)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
        random = np.random.default_rng(len(name))
        session = onnxruntime.InferenceSession(model.SerializeToString())
        for number, given in enumerate(inputs_of(name, random)):
            given = {key: np.asarray(array) for key, array in given.items()}
            results = session.run(None, given)
            outputs = [(info.name, np.asarray(result).astype(helper.tensor_dtype_to_np_dtype(
                info.type.tensor_type.elem_type))) for info, result in zip(model.graph.output, results)]
            header = {"case": f"{name}_{number}", "tolerance": {"absolute": 2e-6, "relative": 1e-5}}
            (folder / f"{name}_{number}.kv").write_bytes(kv.encode(header, list(given.items()), outputs))
