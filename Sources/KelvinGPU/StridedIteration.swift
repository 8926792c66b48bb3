package import KelvinDevices
package import KelvinGraph

/// An iteration over operands and their broadcast result.
package struct StridedIteration: Hashable, Sendable {
  package struct Axis: Hashable, Sendable {
    package var size: Int
    /// The stride of each operand, 0 along a broadcast axis.
    package var strides: [Int]

    package init(size: Int, strides: [Int]) {
      self.size = size
      self.strides = strides
    }
  }

  /// The largest number of axes that the kernels take.
  package static let limit = 6

  /// The axes, outermost first, at least one. Neighbouring axes that are contiguous in all operands are merged.
  package private(set) var axes: [Axis] = []

  package init(_ result: Shape, _ operands: [Shape]) {
    self.init(
      result,
      strides: operands.map { shape in
        let own = zip(shape.dimensions, shape.strides).map { $0 == 1 ? 0 : $1 }
        return [Int](repeating: 0, count: result.rank - shape.rank) + own
      })
  }

  /// - Parameter strides: the strides of each operand along each axis of the result.
  package init(_ result: Shape, strides: [[Int]]) {
    for index in 0..<result.rank where result[index] != 1 {
      let axis = Axis(size: result[index], strides: strides.map { $0[index] })
      if let last = axes.last, zip(last.strides, axis.strides).allSatisfy({ $0 == $1 * axis.size }) {
        axes[axes.count - 1] = Axis(size: last.size * axis.size, strides: axis.strides)
      } else {
        axes.append(axis)
      }
    }
    if axes.isEmpty { axes = [Axis(size: 1, strides: strides.map { _ in 1 })] }
  }

  /// The parameters as kernels declare them: each operand's step along the last axis, then the sizes of the other axes,
  /// innermost first, and each operand's strides along these axes.
  package var parameters: [Int] {
    let outer = axes.dropLast().reversed()
    let missing = Self.limit - axes.count
    let row = axes[axes.count - 1]
    return row.strides + outer.map(\.size) + Array(repeating: 1, count: missing)
      + row.strides.indices.flatMap { operand in
        outer.map { $0.strides[operand] } + Array(repeating: 0, count: missing)
      }
  }

  package var count: Int { axes.reduce(1) { $0 * $1.size } }

  /// - Throws: `.unsupported` if too many axes remain.
  package func check<Target>(_ context: KernelContext<Target>) throws(DeviceError) {
    guard axes.count <= Self.limit else { throw context.unsupported("broadcasting over \(axes.count) axes") }
  }
}
