internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addExpand() {
    add(Expand.self) { _, context throws(DeviceError) in
      try context.checkSizes()
      let (from, to) = (context.inputs[0].shape, context.outputs[0].shape)
      let missing = to.rank - from.rank
      let strides = (0..<to.rank).map { axis in
        axis < missing || from[axis - missing] == 1 ? 0 : from.strides[axis - missing]
      }
      return try moving(context, StridedCopy(sizes: to.dimensions, source: strides, target: to.strides))
    }
  }
}

/// An emitter that computes a node by one copy of its first input.
func moving(_ context: NodeContext, _ copy: StridedCopy) throws(DeviceError) -> Emitter {
  guard copy.axes.count <= StridedCopy.maximumRank else {
    throw context.unsupported("moving data over more than \(StridedCopy.maximumRank) axes")
  }
  return Emitter { lowering throws(DeviceError) in
    let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
    let source = try lowering.place(x, .dense)
    let target = lowering.make(y, .dense)
    lowering.copy(
      copy, from: source, to: target, elementByteCount: lowering.internalByteCount(lowering.type(x).scalar))
  }
}
