import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addReduce() {
    add(Reduce.self) { op, inputs in
      let shape = inputs.shape(0)
      let kept = Shape(shape.dimensions.enumerated().map { op.axes.contains($0) ? 1 : $1 })
      var groups = [[Double]](repeating: [], count: kept.count)
      for (index, position) in Positions(shape).enumerated() {
        groups[kept.broadcastOffset(position)].append(inputs.values[0][index])
      }
      return [groups.map(op.function.combine)]
    }
  }
}

extension Reduce.Function {
  fileprivate func combine(_ values: [Double]) -> Double {
    switch self {
    case .sum: values.reduce(0, +)
    case .mean: values.reduce(0, +) / Double(values.count)
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
    guard let largest = values.max(), largest.isFinite else { return values.max() ?? -.infinity }
    return largest + log(values.reduce(0) { $0 + exp($1 - largest) })
  }
}
