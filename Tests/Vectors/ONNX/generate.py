"""Writes the operator vectors of this folder's subfolders; ../README.md describes the files.

Inputs come from a generator seeded by the name of the case, so adding a case changes no other. Expected outputs come
from onnx.reference.ReferenceEvaluator on float64 copies of the tensors, rounded to the type of the output; where the
evaluator is not in double precision, or is not what the operator's text says, `exact.py`, `recurrence.py` and
`signals.py` supply the formula.
"""

import pathlib
import sys
import zlib

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import cases  # noqa: E402
import exact  # noqa: E402
import further_cases  # noqa: E402, F401 (adds to the cases)
import edge_cases  # noqa: E402, F401 (adds to the cases, after those)
import sequence_cases  # noqa: E402, F401 (adds to the cases, after those)
import signal_cases  # noqa: E402, F401 (adds to the cases, after those)
import type_cases  # noqa: E402, F401 (adds to the cases, after those)
import kv  # noqa: E402  (of the directory above)
import recurrence  # noqa: E402
import signals  # noqa: E402

OPSET = 17
NEWER_OPSET = {"Gelu": 20, "AveragePool": 19}
BUDGET = 1_000_000
# The folder of each operator's files; an operator without an entry is in "Elementwise".
KINDS = {
    "Attention": "attention linearattention rotaryembedding tensorscatter",
    "Convolution": "causalconvwithstate col2im conv convtranspose deformconv qlinearconv",
    "Layout":
        "concat expand eyelike gather gatherelements gathernd onehot pad range reversesequence scatterelements "
        "scatternd slice tile transpose trilu",
    "Losses": "negativeloglikelihoodloss softmaxcrossentropyloss",
    "Normalization":
        "batchnormalization groupnormalization hardmax instancenormalization layernormalization logsoftmax "
        "lpnormalization lrn meanvariancenormalization rmsnormalization softmax",
    "Pooling": "averagepool globalaveragepool globallppool lppool maxpool maxroipool maxunpool roialign",
    "Products": "det einsum gemm matmul",
    "Recurrence": "gru lstm rnn",
    "Reductions":
        "argmax argmin cumprod cumsum reducel1 reducel2 reducelogsum reducelogsumexp reducemax reducemean "
        "reducemin reduceprod reducesum reducesumsquare topk",
    "Resampling": "affinegrid centercroppad gridsample resize",
    "Signals": "blackmanwindow dft hammingwindow hannwindow melweightmatrix stft",
}
FOLDERS = {operator: kind for kind, operators in KINDS.items() for operator in operators.split()}
FORMULAS = exact.FORMULAS | recurrence.FORMULAS | signals.FORMULAS
ONNX_TYPE = {"float32": onnx.TensorProto.FLOAT, "float16": onnx.TensorProto.FLOAT16, "int32": onnx.TensorProto.INT32,
             "int64": onnx.TensorProto.INT64, "uint8": onnx.TensorProto.UINT8, "int8": onnx.TensorProto.INT8,
             "int16": onnx.TensorProto.INT16, "uint16": onnx.TensorProto.UINT16, "uint32": onnx.TensorProto.UINT32,
             "uint64": onnx.TensorProto.UINT64, "float64": onnx.TensorProto.DOUBLE, "bool": onnx.TensorProto.BOOL}


def materialize(operand, random):
    """The array an operand describes: itself, or random values of its shape in its range."""
    if isinstance(operand, cases.Values):
        return operand.draw(random)
    return operand


def build(case, named, output_types, version):
    """A model of one node; `named` pairs every input name with its array, None for an omitted input."""
    operator, constant = case.operator, case.constant
    inputs = [helper.make_tensor_value_info(name, ONNX_TYPE[str(array.dtype)], array.shape)
              for name, array in named if array is not None and name not in constant]
    initializers = [numpy_helper.from_array(array, name) for name, array in named
                    if array is not None and name in constant]
    outputs = [helper.make_tensor_value_info(name, ONNX_TYPE[kind], shape) for name, kind, shape in output_types]
    node = helper.make_node(operator, [name if array is not None else "" for name, array in named], output_names(case),
                            name=operator.lower(), **case.attributes)
    graph = helper.make_graph([node], operator.lower(), inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=9,
                             producer_name="Kelvin vectors")


def output_names(case):
    """The names of the node's outputs, none for one that is omitted."""
    names = ["y"] if case.outputs == 1 else [f"y{index}" for index in range(case.outputs)]
    return ["" if index in case.omitted else name for index, name in enumerate(names)]


def widen(array):
    return array.astype(np.float64) if array is not None and array.dtype in (np.float32, np.float16) else array


def expected_outputs(case, named, version):
    """Outputs in float64 where the operands are floating point."""
    wide = [widen(array) for _, array in named]
    formula = case.formula or FORMULAS.get(case.operator)
    if formula:
        results = formula(*wide, **case.attributes)
        return results if isinstance(results, tuple) else (results,)
    node = helper.make_node(case.operator, [name if array is not None else "" for name, array in named],
                            [f"y{i}" for i in range(case.outputs)], **case.attributes)
    present = [(name, array) for (name, _), array in zip(named, wide) if array is not None]
    inputs = [helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
              for name, array in present]
    outputs = [helper.make_empty_tensor_value_info(f"y{i}") for i in range(case.outputs)]
    model = helper.make_model(helper.make_graph([node], "case", inputs, outputs),
                              opset_imports=[helper.make_opsetid("", version)], ir_version=9)
    return ReferenceEvaluator(model).run(None, dict(present))


def encode(case, name, inputs, outputs, version):
    """The bytes of the .kv file."""
    absolute, relative = case.tolerance
    header = {"case": name, "op": case.operator, "attributes": case.attributes, "opset": version,
              "tolerance": {"absolute": absolute, "relative": relative}}
    return kv.encode(header, inputs, outputs)


def write(case, name):
    """Writes both files of the case and returns their size."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    named = [(key, materialize(operand, random)) for key, operand in case.operands]
    version = case.opset or NEWER_OPSET.get(case.operator, OPSET)
    results = expected_outputs(case, named, version)
    source = next(array.dtype for _, array in named if array is not None)
    kinds = case.output_type if isinstance(case.output_type, tuple) else (case.output_type,) * case.outputs
    outputs = []
    for key, kind, result in zip(output_names(case), kinds, results):
        if not key:
            continue
        result = np.asarray(result)
        narrow = result.astype(kind or (source if result.dtype == np.float64 else result.dtype))
        if narrow.size == 0 or (narrow.dtype.kind == "f" and not np.isfinite(narrow).all()):
            raise ValueError(f"{name}: an output is empty or not finite")
        outputs.append((key, narrow))
    types = [(key, str(array.dtype), array.shape) for key, array in outputs]
    model = build(case, named, types, version)
    onnx.checker.check_model(model, full_check=True)
    inputs = [(key, array) for key, array in named if array is not None and key not in case.constant]
    payload = encode(case, name, inputs, outputs, version)
    folder = HERE / FOLDERS.get(case.operator.lower(), "Elementwise")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())
    (folder / f"{name}.kv").write_bytes(payload)
    return model.ByteSize() + len(payload)


def main():
    for old in [*HERE.glob("*/*.onnx"), *HERE.glob("*/*.kv")]:
        old.unlink()
    counts, total = {}, 0
    for case in cases.CASES:
        stem = case.operator.lower()
        counts[stem] = counts.get(stem, 0) + 1
        total += write(case, f"{stem}_{counts[stem]}")
    print(f"{sum(counts.values())} cases of {len(counts)} operators, {total} bytes")
    if total > BUDGET:
        raise SystemExit(f"the vectors take {total} bytes, more than {BUDGET}")


if __name__ == "__main__":
    main()
