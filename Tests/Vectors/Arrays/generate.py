#!/usr/bin/env python3
"""Writes arrays with numpy.save in each string type, byte order and order of axes, and ONNX models that pass them on.

    python3 -m venv .venv && .venv/bin/pip install numpy==2.4.6 onnx==1.23.2
    .venv/bin/python generate.py

The test states what each array holds."""

import pathlib

import numpy as np
from onnx import TensorProto, helper

FOLDER = pathlib.Path(__file__).parent
STRINGS = np.array([["é", "e\u0301", ""], ["a\0b", "😀", "long string"]])
NUMBERS = np.arange(24).reshape(2, 3, 4)


def save(name, array, **options):
    np.save(FOLDER / f"{name}.npy", array, **options)


def identity(name, kind):
    value = [helper.make_tensor_value_info(side, kind, ["rows", "columns"]) for side in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], name, value[:1], value[1:])
    model = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    (FOLDER / f"{name}.onnx").write_bytes(model.SerializeToString())


save("unicode_little", STRINGS.astype("<U11"))
save("unicode_big", STRINGS.astype(">U11"))
save("unicode_columns", np.asfortranarray(STRINGS))
save("bytes", np.char.encode(STRINGS, "utf-8"))
save("latin", np.char.encode(np.array(["abc", "é"]), "latin-1"))
save("objects", STRINGS.astype(object), allow_pickle=True)
for code in ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    save(f"{code}_big_columns", np.asfortranarray(NUMBERS).astype(f">{code}", order="F"))
save("bool_columns", np.asfortranarray(NUMBERS % 3 == 0))
identity("strings", TensorProto.STRING)
identity("booleans", TensorProto.BOOL)
identity("numbers", TensorProto.FLOAT)
