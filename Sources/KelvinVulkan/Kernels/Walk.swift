import KelvinDevices
import KelvinGraph

/// The axes of a broadcast result, innermost first, with each operand's stride, 0 where it repeats. Neighbours that all
/// operands walk alike are one axis.
struct Walk: Sendable {
  static let limit = 6
  private(set) var sizes: [Int] = []
  private(set) var strides: [[Int]]

  init(_ result: Shape, _ operands: [Shape]) {
    self.init(
      result,
      strides: operands.map { shape in
        let own = zip(shape.dimensions, shape.strides).map { $0 == 1 ? 0 : $1 }
        return [Int](repeating: 0, count: result.rank - shape.rank) + own
      })
  }

  /// - Parameter strides: of each operand along each axis of the result.
  init(_ result: Shape, strides all: [[Int]]) {
    strides = all.map { _ in [] }
    for axis in result.dimensions.indices.reversed() where result[axis] != 1 {
      let last = sizes.count - 1
      if last >= 0, all.indices.allSatisfy({ all[$0][axis] == strides[$0][last] * sizes[last] }) {
        sizes[last] *= result[axis]
      } else {
        sizes.append(result[axis])
        for operand in all.indices { strides[operand].append(all[operand][axis]) }
      }
    }
  }

  /// How many axes a shader walks.
  var axisCount: Int { max(sizes.count, 1) }

  /// - Throws: `.unsupported` where too many axes remain.
  func check(_ context: KernelContext) throws(DeviceError) {
    guard sizes.count <= Self.limit else { throw context.unsupported("broadcasting over \(sizes.count) axes") }
  }

  /// The sizes, then each operand's strides.
  func add(to parameters: inout Parameters) {
    let rest = Self.limit - sizes.count
    parameters.add(paddedSizes)
    for list in strides { parameters.add(list + [Int](repeating: 0, count: rest)) }
  }

  /// The sizes of as many axes as shaders declare.
  var paddedSizes: [Int] { sizes + [Int](repeating: 1, count: Self.limit - sizes.count) }
}
