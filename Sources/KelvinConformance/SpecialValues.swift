package import KelvinBasics
package import KelvinGraph

/// Numbers that arithmetic treats in ways of their own, one family at a time: not-a-number among infinities would hide
/// what becomes of them.
package enum SpecialValues: String, Sendable, CaseIterable {
  case notANumber = "not-a-number"
  case infinities
  /// Zeros of both signs, and numbers too small to have all their digits.
  case tiny = "zeros and denormals"
  /// The largest finite numbers.
  case huge = "largest numbers"

  /// As elements of a graph's inputs of a type, in turn.
  ///
  /// The largest numbers are such that what the graph computes of them stays in the range of float32, in which devices
  /// add up: what comes of a sum that has left it depends on its order.
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

/// What an operator combines to a result.
enum Reach: Int, Comparable {
  case elements, sums, squares, products, exponents

  static func < (left: Reach, right: Reach) -> Bool { left.rawValue < right.rawValue }
}

extension Operator {
  var reach: Reach {
    switch self {
    case is MatMul, is LayerNormalization, is LocalResponseNormalization: .squares
    // Shares tell scores apart, and gates sums, by their differences, of which large numbers leave nothing.
    case is Attention, is Recurrence: .exponents
    case let op as Reduce where op.function == .product: .products
    case let op as CumulativeReduce where op.function == .product: .products
    case let op as Reduce: [.l2, .sumOfSquares].contains(op.function) ? .squares : .sums
    case is Convolution, is ConvolutionTranspose, is Linear, is Pool, is BatchNormalization, is CumulativeReduce,
      is Resize, is Softmax:
      .sums
    default: .elements
    }
  }
}

extension Tensor {
  /// The tensor with about one element in seven replaced, at least one.
  package func sprinkled(_ values: [Double], _ random: inout SeededGenerator) -> Tensor {
    guard type.scalar.isFloatingPoint, count > 0 else { return self }
    var elements = doubles
    for turn in 0..<(count + 6) / 7 {
      elements[random.index(below: count)] = values[turn % values.count]
    }
    return Tensor(type, rounding: elements)
  }

  /// The tensor as a device sees it that takes denormals of float32 for zeros of their sign.
  package func flushingDenormals() -> Tensor {
    guard type.scalar.isFloatingPoint else { return self }
    let least = Double(Float.leastNormalMagnitude)
    return Tensor(
      type, rounding: doubles.map { $0.magnitude < least ? (($0.sign == .minus) ? -0.0 : 0) : $0 })
  }
}

extension ConformanceCase {
  /// The case's inputs with special values among them; nil where no input has floating-point elements.
  ///
  /// An operand of one element, a scale or a limit, speaks for all results, and is left as it is where another can be
  /// changed.
  ///
  /// - Parameter storesHalves: whether float32 lies as float16: then numbers are those that this tells apart.
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
