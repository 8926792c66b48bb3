internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addConcat() {
    add(Concat.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      return Emitter { lowering throws(DeviceError) in
        let y = lowering.node.outputs[0]
        let result = lowering.type(y)
        if lowering.concatBlocks(op) { return }
        let target = lowering.make(y, .dense)
        let outer = result.shape.dimensions[..<op.axis].reduce(1, *)
        let inner = result.shape.dimensions[(op.axis + 1)...].reduce(1, *)
        var start = 0
        for x in lowering.node.inputs {
          let source = try lowering.place(x, .dense)
          let length = lowering.type(x).shape[op.axis] * inner
          let copy = StridedCopy(
            sizes: [outer, length], source: [length, 1], target: [result.shape[op.axis] * inner, 1],
            targetOffset: start)
          lowering.copy(
            copy, from: source, to: target, elementByteCount: lowering.internalByteCount(result.scalar))
          start += length
        }
      }
    }
  }
}

extension Lowering {
  /// Joins whole blocks of channels where all inputs are blocked; false where they are not.
  fileprivate mutating func concatBlocks(_ op: Concat) -> Bool {
    let y = node.outputs[0]
    let lanes = tuning.lanes
    guard op.axis == 1, !isOnlyOutput(y), node.inputs.allSatisfy({ isBlocked($0) }),
      node.inputs.dropLast().allSatisfy({ type($0).shape[1] % lanes == 0 })
    else { return false }
    let shape = type(y).shape
    let row = tuning.blocks(shape[1]) * lanes * shape.pixels
    let target = make(y, .blocked)
    var start = 0
    for x in node.inputs {
      guard let source = try? place(x, .blocked) else { return false }
      let length = tuning.blocks(type(x).shape[1]) * lanes * shape.pixels
      let copy = StridedCopy(
        sizes: [shape[0], length], source: [length, 1], target: [row, 1], targetOffset: start)
      self.copy(copy, from: source, to: target, elementByteCount: 4)
      start += length
    }
    return true
  }
}
