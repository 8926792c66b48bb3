import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addReduce() {
    add(Reduce.self) { op, inputs in
      if op.function == .sum || op.function == .mean { return [op.sums(inputs)] }
      return [op.groups(inputs).map(op.function.combine)]
    }
  }
}

extension Reduce: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    guard let scalar = inputs.types.first?.scalar, function.ofIntegers else { return nil }
    return groups(inputs).map { function.combine($0, of: scalar) }
  }

  /// The results' shape, with an axis of one position for each combined axis.
  private func kept(_ shape: Shape) -> Shape {
    Shape(shape.dimensions.enumerated().map { axes.contains($0) ? 1 : $1 })
  }

  /// Returns the elements that each result combines.
  fileprivate func groups<Element>(_ inputs: ReferenceInputs<Element>) -> [[Element]] {
    let kept = kept(inputs.shape(0))
    var groups = [[Element]](repeating: [], count: kept.count)
    for (group, value) in zip(kept.broadcastOffsets(to: inputs.shape(0)), inputs.values[0]) {
      groups[group].append(value)
    }
    return groups
  }

  /// Returns the sums or means, added in the order of the elements.
  fileprivate func sums(_ inputs: ReferenceInputs<Double>) -> [Double] {
    let (shape, kept) = (inputs.shape(0), kept(inputs.shape(0)))
    var sums = [Double](repeating: 0, count: kept.count)
    for (group, value) in zip(kept.broadcastOffsets(to: shape), inputs.values[0]) { sums[group] += value }
    let count = Double(shape.count) / Double(kept.count)
    return function == .mean ? sums.map { $0 / count } : sums
  }
}

extension Reduce.Function {
  /// Whether the function maps integers to integers.
  fileprivate var ofIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }

  /// Combines integers. A mean is truncated; the maximum and minimum of no elements are the limits of the type's
  /// range.
  fileprivate func combine<Word: FixedWidthInteger>(_ values: [Word], of scalar: ScalarType) -> Word {
    let sum = values.reduce(0, &+)
    switch self {
    case .mean: return values.isEmpty ? 0 : sum / Word(values.count)
    case .maximum: return values.max() ?? Word(truncatingIfNeeded: Tensor.limit(of: scalar, -.infinity))
    case .minimum: return values.min() ?? Word(truncatingIfNeeded: Tensor.limit(of: scalar, .infinity))
    case .product: return values.reduce(1, &*)
    case .l1: return values.reduce(0) { $0 &+ ($1 < 0 ? 0 &- $1 : $1) }
    case .sumOfSquares: return values.reduce(0) { $0 &+ $1 &* $1 }
    default: return sum
    }
  }
}

extension Tensor {
  /// Returns a limit of an integer type's range.
  fileprivate static func limit(of scalar: ScalarType, _ end: Double) -> Int64 {
    Tensor(TensorType(scalar, [1]), rounding: [end]).words[0]
  }
}

extension Reduce.Function {
  fileprivate func combine(_ values: [Double]) -> Double {
    switch self {
    case .sum, .mean: preconditionFailure("added without groups")
    case .maximum: values.contains(where: \.isNaN) ? .nan : values.max() ?? -.infinity
    case .minimum: values.contains(where: \.isNaN) ? .nan : values.min() ?? .infinity
    case .product: values.reduce(1, *)
    case .l1: values.reduce(0) { $0 + abs($1) }
    case .l2: values.reduce(0) { $0 + $1 * $1 }.squareRoot()
    case .sumOfSquares: values.reduce(0) { $0 + $1 * $1 }
    case .logSum: log(values.reduce(0, +))
    case .logSumExp: Self.logSumExp(values)
    }
  }

  private static func logSumExp(_ values: [Double]) -> Double {
    if values.contains(where: \.isNaN) { return .nan }
    guard let largest = values.max(), largest.isFinite else { return values.max() ?? -.infinity }
    return largest + log(values.reduce(0) { $0 + exp($1 - largest) })
  }
}
