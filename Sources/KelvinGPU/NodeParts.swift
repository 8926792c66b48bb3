internal import KelvinDevices
internal import KelvinGraph

extension KernelContext {
  /// The limit that a tensor of the node exceeds, so that kernels cannot address all of it; nil if there is none.
  var sizeFault: String? { faults { target.sizeFault($0, isConstant: $1) } }
  /// The limit that a tensor of the node exceeds, so that the device cannot hold it; nil if there is none.
  var memoryFault: String? { faults { type, isConstant in isConstant ? nil : target.memoryFault(type) } }

  private func faults(_ fault: (TensorType, _ isConstant: Bool) -> String?) -> String? {
    let isConstant = inputs.indices.map(isConstant) + outputs.map { _ in false }
    for (type, isConstant) in zip(inputs + outputs, isConstant) {
      if let reason = fault(type, isConstant) { return "\(type) is larger than \(reason)" }
    }
    return nil
  }

  /// The node as a graph of parts whose tensors kernels can address, or can once the parts are cut along other axes
  /// too. The cut is along the axis that moves the fewest elements. Nil if no cut is needed or possible.
  var parts: Graph? {
    guard sizeFault != nil, node.outputs.count == 1 else { return nil }
    let axes = node.op.splitAxes(inputs, outputs[0]).filter { outputs[0].shape[$0.axis] > $0.unit }
    func others(_ axis: SplitAxis) -> [SplitAxis] { axes.filter { $0.axis != axis.axis } }
    let attempts: [(SplitAxis) -> [[SplitAxis]]] = [{ _ in [[]] }, { others($0).map { [$0] } }, { [others($0)] }]
    for attempt in attempts {
      let cuts = axes.flatMap { axis in attempt(axis).compactMap { cut(along: axis, then: $0) } }
      if let best = cuts.min(by: { $0 < $1 }) {
        return try? node.computed(in: best.parts, along: best.axis, in: request.graph)
      }
    }
    return nil
  }

  /// Returns the cut along an axis with the fewest parts that kernels can address once these are cut along the other
  /// axes; nil if there is none.
  private func cut(along axis: SplitAxis, then others: [SplitAxis]) -> NodeCut? {
    let units = (outputs[0].shape[axis.axis] + axis.unit - 1) / axis.unit
    // Longer parts are never easier to address.
    var (seen, unseen) = (0, units)
    while unseen - seen > 1 {
      let middle = (seen + unseen) / 2
      if makeCut(axis, middle * axis.unit, then: others) != nil { seen = middle } else { unseen = middle }
    }
    if seen == 0 { return makeCut(axis, axis.unit, then: others) }
    let length = seen * axis.unit
    for step in [max(alignment(axis), axis.axis == 1 ? target.lanes : 1), alignment(axis), 1] {
      let whole = length / (step * axis.unit) * (step * axis.unit)
      if whole > 0 { return makeCut(axis, whole, then: others) }
    }
    return nil
  }

  /// Returns the node in parts of a length. Nil if a part cannot be computed alone or addressed, or if moving it would
  /// be no easier than the node itself.
  private func makeCut(_ axis: SplitAxis, _ length: Int, then others: [SplitAxis]) -> NodeCut? {
    let size = outputs[0].shape[axis.axis]
    guard (size + length - 1) / length <= NodeCut.limit else { return nil }
    var cut = NodeCut(axis: axis)
    for start in stride(from: 0, to: size, by: length) {
      let range = start..<min(start + length, size)
      guard let part = axis.part(range) else { return nil }
      var types = inputs
      for (index, operand) in part.operands.enumerated() {
        guard let operand else { continue }
        types[index] = inputs[index].part(operand)
        if types[index] != inputs[index], !isConstant(index) {
          guard let moved = moved(inputs[index], operand, of: types[index], isMove: node.op is Slice) else {
            return nil
          }
          cut.moved += moved
        }
      }
      let place = Part.Operand(axis: axis.axis, range: range)
      let type = outputs[0].part(place)
      guard areSeen(types, type, cutAlong: others),
        let moved = moved(outputs[0], place, of: type, isMove: node.op is Concat)
      else { return nil }
      cut.moved += moved
      cut.parts.append((range, part))
    }
    return cut
  }

  /// Whether kernels can address the tensors once they are cut as small as possible along some axes.
  private func areSeen(_ operands: [TensorType], _ result: TensorType, cutAlong axes: [SplitAxis]) -> Bool {
    var (operands, result) = (operands, result)
    for axis in axes {
      guard let part = axis.part(0..<axis.unit) else { return false }
      for (index, cut) in part.operands.enumerated() {
        guard let cut else { continue }
        operands[index].shape[cut.axis] = min(operands[index].shape[cut.axis], cut.range.count)
      }
      result.shape[axis.axis] = min(result.shape[axis.axis], axis.unit)
    }
    return target.sizeFault(result, isConstant: false) == nil
      && operands.indices.allSatisfy { target.sizeFault(operands[$0], isConstant: isConstant($0)) == nil }
  }

  /// Returns the number of elements moved to copy a part of a dense tensor to its own memory, or back.
  ///
  /// - Parameter isMove: whether the node itself only moves elements; it may then only be reduced to contiguous runs.
  private func moved(_ whole: TensorType, _ part: Part.Operand, of type: TensorType, isMove: Bool) -> Int? {
    if whole.shape.dimensions[..<part.axis].allSatisfy({ $0 == 1 }) {
      let inner = whole.shape.dimensions[(part.axis + 1)...].reduce(1, *) * target.byteCount(whole.scalar)
      return part.range.lowerBound * inner % bufferAlignment == 0 ? 0 : type.count
    }
    guard target.sizeFault(whole, isConstant: false) != nil else { return type.count }
    // A move through contiguous runs moves each element once more.
    return isMove ? nil : 2 * type.count
  }

  /// Returns the unit of positions at which parts begin at an offset that kernels can be bound to.
  private func alignment(_ axis: SplitAxis) -> Int {
    let bytes =
      outputs[0].shape.dimensions[(axis.axis + 1)...].reduce(axis.unit, *) * target.byteCount(outputs[0].scalar)
    return bufferAlignment >> min(max(bytes, 1).trailingZeroBitCount, bufferAlignment.trailingZeroBitCount)
  }
}

/// A node in parts.
private struct NodeCut {
  /// The largest number of parts.
  static let limit = 4096

  let axis: SplitAxis
  var parts: [(range: Range<Int>, part: Part)] = []
  /// Elements moved because of the cut.
  var moved = 0

  init(axis: SplitAxis) { self.axis = axis }

  /// Compares elements moved, then the number of kernels.
  static func < (left: NodeCut, right: NodeCut) -> Bool {
    (left.moved, left.parts.count) < (right.moved, right.parts.count)
  }
}
