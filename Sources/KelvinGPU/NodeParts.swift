internal import KelvinDevices
internal import KelvinGraph

extension KernelContext {
  /// The limit that a tensor of the node is above, so that no kernel can see it whole.
  var sizeFault: String? { faults { target.sizeFault($0, isConstant: $1) } }
  /// The limit that a tensor of the node is above, so that the device cannot hold it.
  var memoryFault: String? { faults { type, isConstant in isConstant ? nil : target.memoryFault(type) } }

  private func faults(_ fault: (TensorType, _ isConstant: Bool) -> String?) -> String? {
    let isConstant = inputs.indices.map(isConstant) + outputs.map { _ in false }
    for (type, isConstant) in zip(inputs + outputs, isConstant) {
      if let reason = fault(type, isConstant) { return "\(type) is larger than \(reason)" }
    }
    return nil
  }

  /// The node computed in parts of which kernels can see all tensors, or that come nearer to it: along the axis that moves
  /// fewest elements. Nil for a node whose tensors can be seen, and for one that cannot be cut.
  var parts: Graph? {
    guard sizeFault != nil, node.outputs.count == 1 else { return nil }
    let axes = node.op.partAxes(inputs, outputs[0]).filter { outputs[0].shape[$0.axis] > $0.unit }
    let whole = axes.compactMap { cut(along: $0) }
    guard let best = (whole.isEmpty ? axes.compactMap { halved(along: $0, of: axes) } : whole).min(by: { $0 < $1 })
    else { return nil }
    return node.computed(in: best.parts, along: best.axis, in: request.graph)
  }

  /// As few parts along an axis as kernels see all of; nil where there are none.
  private func cut(along axis: PartAxis) -> NodeCut? {
    let units = (outputs[0].shape[axis.axis] + axis.unit - 1) / axis.unit
    func isSeen(_ units: Int) -> Bool {
      guard let cut = makeCut(axis, units * axis.unit) else { return false }
      return cut.faults == 0
    }
    // Longer parts are never easier to see.
    var (seen, unseen) = (0, units)
    while unseen - seen > 1 {
      let middle = (seen + unseen) / 2
      if isSeen(middle) { seen = middle } else { unseen = middle }
    }
    guard seen > 0 else { return nil }
    let length = seen * axis.unit
    for step in [max(alignment(axis), axis.axis == 1 ? target.lanes : 1), alignment(axis), 1] {
      let whole = length / (step * axis.unit) * (step * axis.unit)
      if whole > 0 { return makeCut(axis, whole) }
    }
    return nil
  }

  /// Two parts along an axis, for a node that has to be cut along several; nil where all of them are not enough.
  private func halved(along axis: PartAxis, of axes: [PartAxis]) -> NodeCut? {
    var least = (inputs, outputs[0])
    for axis in axes {
      guard let part = axis.part(0..<axis.unit) else { continue }
      for (index, operand) in part.operands.enumerated() {
        if let operand, operand.range.count < least.0[index].shape[operand.axis] {
          least.0[index] = least.0[index].part(operand)
        }
      }
      least.1 = least.1.part(Part.Operand(axis: axis.axis, range: 0..<axis.unit))
    }
    guard excess(least.0, least.1) == 0 else { return nil }
    let units = (outputs[0].shape[axis.axis] + axis.unit - 1) / axis.unit
    guard let cut = makeCut(axis, (units + 1) / 2 * axis.unit), cut.faults < excess(inputs, outputs[0]) else {
      return nil
    }
    return cut
  }

  /// The node in parts of a length; nil where one cannot be computed alone, or where bringing it there would be no easier
  /// than the node.
  private func makeCut(_ axis: PartAxis, _ length: Int) -> NodeCut? {
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
      guard let moved = moved(outputs[0], place, of: type, isMove: node.op is Concat) else { return nil }
      cut.moved += moved
      cut.faults = max(cut.faults, excess(types, type))
      cut.parts.append((range, part))
    }
    return cut
  }

  /// Elements moved to bring a part of a dense tensor to a place of its own, or from there.
  ///
  /// - Parameter isMove: whether the node is itself such a move, which may only come down to runs.
  private func moved(_ whole: TensorType, _ part: Part.Operand, of type: TensorType, isMove: Bool) -> Int? {
    if whole.shape.dimensions[..<part.axis].allSatisfy({ $0 == 1 }) {
      let inner = whole.shape.dimensions[(part.axis + 1)...].reduce(1, *) * target.byteCount(whole.scalar)
      return part.range.lowerBound * inner % bufferAlignment == 0 ? 0 : type.count
    }
    guard target.sizeFault(whole, isConstant: false) != nil else { return type.count }
    // Through runs: each element once more.
    return isMove ? nil : 2 * type.count
  }

  /// Elements of tensors that kernels cannot see whole.
  private func excess(_ operands: [TensorType], _ result: TensorType) -> Int {
    var sum = target.sizeFault(result, isConstant: false) == nil ? 0 : result.count
    for (index, type) in operands.enumerated()
    where target.sizeFault(type, isConstant: isConstant(index)) != nil { sum += type.count }
    return sum
  }

  /// Parts of as many positions, or a multiple, begin where kernels can be shown memory.
  private func alignment(_ axis: PartAxis) -> Int {
    let bytes =
      outputs[0].shape.dimensions[(axis.axis + 1)...].reduce(axis.unit, *) * target.byteCount(outputs[0].scalar)
    return bufferAlignment >> min(max(bytes, 1).trailingZeroBitCount, bufferAlignment.trailingZeroBitCount)
  }
}

/// A node in parts.
private struct NodeCut {
  /// How many there may be.
  static let limit = 4096

  let axis: PartAxis
  var parts: [(range: Range<Int>, part: Part)] = []
  /// Elements moved for the sake of parts.
  var moved = 0
  /// Elements of those tensors of a part, the largest, that kernels cannot see.
  var faults = 0

  init(axis: PartAxis) { self.axis = axis }

  /// What is left to be cut, then what is moved, then how many kernels run.
  static func < (left: NodeCut, right: NodeCut) -> Bool {
    (left.faults, left.moved, left.parts.count) < (right.faults, right.moved, right.parts.count)
  }
}
