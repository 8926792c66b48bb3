package import KelvinBasics
package import KelvinConformance
package import KelvinGraph

/// Numbers that arithmetic treats specially, one family at a time: not-a-number among infinities would hide errors in
/// their results.
package enum SpecialValues: String, Sendable, CaseIterable {
  case notANumber = "not-a-number"
  case infinities
  /// Zeros of both signs, and denormals.
  case tiny = "zeros and denormals"
  /// The largest finite numbers.
  case huge = "largest numbers"

  /// Returns the values for a graph's inputs of a type.
  ///
  /// The largest numbers are chosen so that the graph's results stay in the range of float32, in which devices
  /// accumulate: a sum that leaves the range depends on its order.
  package func values(of scalar: ScalarType, in graph: Graph) -> [Double] {
    switch (self, scalar) {
    case (.notANumber, _): return [.nan]
    case (.infinities, _): return [.infinity, -.infinity]
    case (.tiny, .float16): return [-0.0, 0x1p-24, 0, -0x1p-20, 0x1.ff8p-15]
    case (.tiny, _): return [-0.0, 0x1p-149, 0, -0x1p-140, 0x1.fffffcp-127]
    case (.huge, _):
      let reach = graph.nodes.map(\.op.reach).max() ?? .elements
      switch (reach, scalar) {
      case (.elements, .float16): return [65504, -65504]
      case (.elements, _): return [0x1.fffffep127, -0x1.fffffep127]
      case (.sums, .float16): return [512]
      case (.sums, _): return [0x1p115]
      case (.squares, .float16): return [24]
      case (.squares, _): return [0x1p55]
      case (.products, _): return [16]
      case (.exponents, _): return [4]
      }
    }
  }
}

/// The way in which an operator combines elements to a result.
enum Reach: Int, Comparable {
  case elements, sums, squares, products, exponents

  static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
}

extension Operator {
  var reach: Reach {
    switch self {
    case is MatMul, is LayerNormalization, is NormalizedLinear, is LocalResponseNormalization, is RotaryEmbedding:
      .squares
    // Scores of attention and gates of recurrences pass through exponentials, where large numbers lose all
    // differences.
    case is Attention, is Recurrence: .exponents
    case let op as Reduce where op.function == .product: .products
    case let op as CumulativeReduce where op.function == .product: .products
    case let op as Reduce: [.l2, .sumOfSquares].contains(op.function) ? .squares : .sums
    case is Convolution, is ConvolutionTranspose, is Linear, is OverlapAdd, is Pool, is BatchNormalization,
      is CumulativeReduce, is Resize, is Softmax:
      .sums
    default: .elements
    }
  }
}

extension Tensor {
  /// Returns the tensor with about one element in seven replaced, at least one.
  package func sprinkled(_ values: [Double], _ random: inout SeededGenerator) -> Tensor {
    guard type.scalar.isFloatingPoint, count > 0 else { return self }
    var elements = doubles
    for turn in 0..<(count + 6) / 7 {
      elements[random.index(below: count)] = values[turn % values.count]
    }
    return Tensor(type, rounding: elements)
  }

  /// Returns the tensor with float32 denormals replaced by zeros of the same sign.
  package func flushingDenormals() -> Tensor {
    guard type.scalar.isFloatingPoint else { return self }
    let least = Double(Float.leastNormalMagnitude)
    return Tensor(
      type, rounding: doubles.map { $0.magnitude < least ? (($0.sign == .minus) ? -0.0 : 0) : $0 })
  }
}

extension ConformanceCase {
  /// Returns the case's inputs with special values among them; nil if no input has floating-point elements.
  ///
  /// An operand of one element, such as a scale or a limit, affects all results. It is only changed if no other
  /// operand can be.
  ///
  /// - Parameter storesHalves: whether float32 is stored as float16, which limits the numbers to those that float16
  ///   represents.
  package func sprinkledInputs(_ special: SpecialValues, storesHalves: Bool = false) -> [Tensor]? {
    let real = inputs.indices.filter { inputs[$0].type.scalar.isFloatingPoint && inputs[$0].count > 0 }
    guard !real.isEmpty else { return nil }
    let large = real.filter { inputs[$0].count > 1 }
    var random = SeededGenerator(
      seed: "\(name) \(special)".utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 })
    var changed = inputs
    for index in large.isEmpty ? real : large {
      let scalar = inputs[index].type.scalar
      changed[index] = inputs[index].sprinkled(
        special.values(of: storesHalves && scalar == .float32 ? .float16 : scalar, in: graph), &random)
    }
    return changed
  }
}
