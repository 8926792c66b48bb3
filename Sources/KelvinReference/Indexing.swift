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

/// The offsets of the elements of a strided view in row-major order, without an array for each position. An axis of one
/// position may have any stride, so sums wrap.
struct StridedOffsets: Sequence, IteratorProtocol {
  private let sizes, strides: [Int]
  private let length, step: Int
  private var position: [Int]
  private var offset: Int
  /// The elements of the row that are left.
  private var rest: Int
  private(set) var underestimatedCount: Int

  init(_ shape: Shape, strides: [Int], from start: Int = 0) {
    (sizes, self.strides, offset) = (shape.dimensions, strides, start)
    (length, step) = (sizes.last ?? 1, strides.last ?? 0)
    rest = length
    position = sizes.map { _ in 0 }
    underestimatedCount = shape.count
  }

  mutating func next() -> Int? {
    guard underestimatedCount > 0 else { return nil }
    underestimatedCount -= 1
    let current = offset
    offset &+= step
    rest -= 1
    if rest == 0 { beginRow() }
    return current
  }

  private mutating func beginRow() {
    rest = length
    offset &-= step &* length
    for axis in sizes.indices.dropLast().reversed() {
      position[axis] += 1
      offset &+= strides[axis]
      if position[axis] < sizes[axis] { break }
      offset &-= strides[axis] &* sizes[axis]
      position[axis] = 0
    }
  }
}

extension Shape {
  /// Returns the offsets, in a tensor of this shape, of the elements that a broadcast to `shape` reads.
  func broadcastOffsets(to shape: Shape) -> StridedOffsets {
    StridedOffsets(shape, strides: strides(broadcastTo: shape))
  }

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
