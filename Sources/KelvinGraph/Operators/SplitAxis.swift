/// An axis of a node's only result along which any range of positions can be computed from parts of the operands.
package struct SplitAxis: Sendable {
  /// The axis of the result, counted from the front.
  package let axis: Int
  /// The granularity of ranges: they begin at multiples of it, and end at a multiple or at the end of the axis.
  package let unit: Int
  private let make: @Sendable (Range<Int>) -> Part?

  package init(_ axis: Int, unit: Int = 1, _ part: @escaping @Sendable (Range<Int>) -> Part?) {
    self.axis = axis
    self.unit = unit
    make = part
  }

  /// Creates an axis whose ranges are computed by the same operator from the same ranges of operands.
  ///
  /// - Parameter operands: The axis of each operand that the range applies to; nil for an operand that every part reads
  ///   whole.
  package init(_ axis: Int, _ op: any Operator, _ operands: [Int?]) {
    self.init(axis) { range in Part(op, operands.map { $0.map { Part.Operand(axis: $0, range: range) } }) }
  }

  /// Returns the computation of a range; nil if it cannot be computed separately.
  package func part(_ range: Range<Int>) -> Part? { make(range) }
}

/// An operator on parts of a node's operands, whose result is part of the node's.
package struct Part: Sendable {
  package struct Operand: Hashable, Sendable {
    package var axis: Int
    package var range: Range<Int>

    package init(axis: Int, range: Range<Int>) {
      self.axis = axis
      self.range = range
    }
  }

  package var op: any Operator
  /// The part of each operand; nil for an operand that is read whole.
  package var operands: [Operand?]

  package init(_ op: any Operator, _ operands: [Operand?]) {
    self.op = op
    self.operands = operands
  }
}

extension Operator {
  /// Returns the axes of an operator whose elements depend only on the corresponding elements of broadcast operands.
  func elementwiseAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    output.shape.dimensions.indices.map { axis in
      SplitAxis(
        axis, self,
        inputs.map { input in
          let own = axis - (output.shape.rank - input.shape.rank)
          return own < 0 || input.shape[own] == 1 ? nil : own
        })
    }
  }

  /// Returns the axes of an operator with one operand of the result's rank, except dependent ones; each is the same
  /// axis of both.
  func sameAxes(_ output: TensorType, but isDependent: (Int) -> Bool) -> [SplitAxis] {
    output.shape.dimensions.indices.filter { !isDependent($0) }.map { SplitAxis($0, self, [$0]) }
  }
}

extension Epilogue {
  /// Returns the parts of the extra operands for a range of the result.
  ///
  /// - Parameter isOfChannels: Whether the range is one of output channels.
  func parts(axis: Int, _ range: Range<Int>, isOfChannels: Bool) -> [Part.Operand?] {
    (hasBias ? [isOfChannels ? Part.Operand(axis: 0, range: range) : nil] : [])
      + (addsResidual ? [Part.Operand(axis: axis, range: range)] : [])
  }
}

extension Window {
  /// Returns the positions of an input that a range of results reads, and the window over them; nil if the range reads
  /// only padding.
  ///
  /// - Parameters:
  ///   - axis: The axis of the window.
  ///   - size: The size of the input along it.
  func part(_ axis: Int, _ range: Range<Int>, of size: Int) -> (window: Window, input: Range<Int>)? {
    let start = range.lowerBound * strides[axis] - before[axis]
    let end = (range.upperBound - 1) * strides[axis] - before[axis] + dilations[axis] * (kernel[axis] - 1) + 1
    let input = max(start, 0)..<max(min(end, size), max(start, 0))
    guard !input.isEmpty else { return nil }
    var window = self
    window.before[axis] = max(-start, 0)
    window.after[axis] = max(end - size, 0)
    return (window, input)
  }
}
