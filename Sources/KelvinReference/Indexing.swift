import KelvinDevices
import KelvinGraph

/// A sequence of every position of a shape in row-major order.
struct Positions: Sequence, IteratorProtocol {
  private let shape: Shape
  private var upcoming: [Int]?

  init(_ shape: Shape) {
    self.shape = shape
    upcoming = shape.count == 0 ? nil : [Int](repeating: 0, count: shape.rank)
  }

  mutating func next() -> [Int]? {
    guard let current = upcoming else { return nil }
    var following = current
    var axis = shape.rank - 1
    while axis >= 0 {
      following[axis] += 1
      if following[axis] < shape[axis] { break }
      following[axis] = 0
      axis -= 1
    }
    upcoming = axis < 0 ? nil : following
    return current
  }
}

extension Shape {
  /// Returns the row-major offset of a position.
  func offset(_ position: [Int]) -> Int {
    var offset = 0
    for (axis, index) in position.enumerated() { offset = offset * dimensions[axis] + index }
    return offset
  }

  /// Returns the offset, in a tensor of this shape, of the element that a broadcast to more dimensions reads at
  /// `position`.
  func broadcastOffset(_ position: [Int]) -> Int {
    var offset = 0
    let skipped = position.count - rank
    for axis in 0..<rank {
      offset = offset * dimensions[axis] + (dimensions[axis] == 1 ? 0 : position[axis + skipped])
    }
    return offset
  }
}

extension Shape {
  /// Returns an index along an axis, with negative indices counted from the end.
  ///
  /// - Throws: `DeviceError` naming the node if the index is outside the axis.
  func index(_ element: some ReferenceElement, along axis: Int, node: String) throws(DeviceError) -> Int {
    let (index, length) = (element.index, dimensions[axis])
    let position = index < 0 ? index + length : index
    guard (0..<length).contains(position) else {
      throw .index(index, outside: length, device: "reference", node: node)
    }
    return position
  }

  /// Whether an index, which may count from the end, is within an axis.
  func has(_ element: some ReferenceElement, along axis: Int) -> Bool {
    (-dimensions[axis]..<dimensions[axis]).contains(element.index)
  }
}

/// The rows of a tensor along one axis.
struct Rows {
  let length: Int
  let count: Int
  private let inner: Int

  init(_ shape: Shape, along axis: Int) {
    length = shape[axis]
    inner = shape.dimensions[(axis + 1)...].reduce(1, *)
    count = shape.dimensions[..<axis].reduce(inner, *)
  }

  /// Returns the row-major offset of an element of a row.
  func offset(_ row: Int, _ position: Int) -> Int { (row / inner * length + position) * inner + row % inner }
}

extension Window {
  /// Returns for each element of the kernel the pairs (output offset, input offset) that it connects, without
  /// padding.
  func connections(input: Shape, output: Shape) -> [[(output: Int, input: Int)]] {
    Positions(Shape(kernel)).map { tap in
      Positions(output).compactMap { position in
        var source: [Int] = []
        for axis in 0..<rank {
          let index = position[axis] * strides[axis] + tap[axis] * dilations[axis] - before[axis]
          guard (0..<input[axis]).contains(index) else { return nil }
          source.append(index)
        }
        return (output.offset(position), input.offset(source))
      }
    }
  }
}
