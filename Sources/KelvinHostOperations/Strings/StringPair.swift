package import KelvinGraph

/// Two operands of strings whose shapes are broadcast.
package struct StringPair: Hashable, Sendable {
  package let first: HostOperand<StringTensor>
  package let second: HostOperand<StringTensor>

  package init(_ first: HostOperand<StringTensor>, _ second: HostOperand<StringTensor>) {
    self.first = first
    self.second = second
  }

  var slots: [String] { [first.slot, second.slot].compactMap { $0 } }

  /// Returns the shape of the pairs, if the types of the slots determine it.
  func shape(_ inputs: [HostType], of step: some HostOperation) throws(HostOperationError) -> Shape? {
    let shapes = [first, second].shapes(inputs)
    guard let first = shapes[0], let second = shapes[1] else { return nil }
    return try broadcast(first, second, of: step)
  }

  /// Returns each element of one operand with its counterpart in the other, row-major.
  func pairs(_ inputs: [HostValue], of step: some HostOperation) throws(HostOperationError) -> (
    pairs: [(String, String)], shape: Shape
  ) {
    var position = 0
    let operands = try step.strings([first, second], inputs, from: &position)
    let shape = try broadcast(operands[0].shape, operands[1].shape, of: step)
    let (left, right) = (operands[0].places(broadcastTo: shape), operands[1].places(broadcastTo: shape))
    return (zip(left, right).map { (operands[0].strings[$0], operands[1].strings[$1]) }, shape)
  }

  private func broadcast(_ a: Shape, _ b: Shape, of step: some HostOperation) throws(HostOperationError) -> Shape {
    guard let shape = a.broadcast(with: b), StringTensor.takes(shape) else {
      throw HostOperationError(
        step: type(of: step).name, slot: slots.first ?? "", reason: "strings [\(a)] and [\(b)] do not broadcast",
        remedy: "give sizes that are equal or 1")
    }
    return shape
  }
}

extension StringTensor {
  /// The greatest number of strings in a result.
  static let countLimit = 1 << 24
  /// The greatest number of bytes of all strings in a result.
  static let byteLimit = 1 << 30

  /// Whether strings of a shape are within the limit.
  static func takes(_ shape: Shape) -> Bool { shape.isAddressable && shape.count <= countLimit }

  /// Returns, for each element of a shape that this one broadcasts to, the index of its string.
  fileprivate func places(broadcastTo shape: Shape) -> [Int] {
    var places = [0]
    let own = [Int](repeating: 1, count: shape.rank - self.shape.rank) + self.shape.dimensions
    let strides = [Int](repeating: 0, count: shape.rank - self.shape.rank) + self.shape.strides
    for axis in 0..<shape.rank {
      let stride = own[axis] == 1 ? 0 : strides[axis]
      places = places.flatMap { place in (0..<shape[axis]).map { place + $0 * stride } }
    }
    return places
  }
}
