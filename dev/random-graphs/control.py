"""Nodes with sub-graphs."""
import numpy as np
import onnx
from onnx import TensorProto, helper

from drawing import info, kind, known_or_not


def inner(g, nodes, inputs, outputs):
    return helper.make_graph(nodes, g.name("b"), inputs, outputs)


@kind(2)
def branched(g):
    """An If whose branches read values outside them."""
    condition = g.leaf((), np.bool_)
    x = g.pick(ranks=(1, 2, 3))
    left, right = g.name(), g.name()
    blank = lambda name: onnx.ValueInfoProto(name=name, type=helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    then = inner(g, [helper.make_node(g.chance.choice(("Sigmoid", "Neg")), [x.name], [left])], [], [blank(left)])
    other = inner(g, [helper.make_node("Mul", [x.name, x.name], [right])], [], [blank(right)])
    g.node("If", [condition], bodies=[x], then_branch=then, else_branch=other)


@kind(2)
def looped(g):
    """A Loop that carries a value and stacks another."""
    x = g.pick(lambda v: not v.array.size or np.abs(v.array).max() < 50, ranks=(0, 1, 2, 3))
    count = g.constant(np.int64(g.chance.randint(1, 4))) if g.chance.random() < 0.6 else known_or_not(
        g, np.asarray(g.chance.randint(1, 4), np.int64))
    names = {key: g.name() for key in ("step", "go", "on", "carried", "next", "row", "number")}
    body = inner(g, [
        helper.make_node("Identity", [names["go"]], [names["on"]]),
        helper.make_node("Cast", [names["step"]], [names["number"]], to=TensorProto.FLOAT),
        helper.make_node("Add", [names["carried"], names["number"]], [names["next"]]),
        helper.make_node("Tanh", [names["next"]], [names["row"]])], [
            helper.make_tensor_value_info(names["step"], TensorProto.INT64, ()),
            helper.make_tensor_value_info(names["go"], TensorProto.BOOL, ()),
            helper.make_tensor_value_info(names["carried"], TensorProto.FLOAT, x.shape)], [
                helper.make_tensor_value_info(names["on"], TensorProto.BOOL, ()),
                helper.make_tensor_value_info(names["next"], TensorProto.FLOAT, x.shape),
                helper.make_tensor_value_info(names["row"], TensorProto.FLOAT, x.shape)])
    g.node("Loop", [count, g.constant(np.asarray(True)) if g.chance.random() < 0.6 else None, x], 2, body=body)


@kind(1)
def scanned(g):
    x = g.pick(ranks=(2, 3))
    start = g.leaf(x.shape[1:], np.float32)
    names = {key: g.name() for key in ("carried", "row", "next", "out")}
    body = inner(g, [
        helper.make_node("Add", [names["carried"], names["row"]], [names["next"]]),
        helper.make_node("Sigmoid", [names["next"]], [names["out"]])], [
            info(names["carried"], start.array), info(names["row"], start.array)], [
                info(names["next"], start.array), info(names["out"], start.array)])
    g.node("Scan", [start, x], 2, body=body, num_scan_inputs=1, scan_input_directions=[g.chance.randint(0, 1)])
