/// The sizes of a dense row-major tensor, outermost dimension first. A scalar has no dimensions.
package struct Shape: Hashable, Sendable, Codable, ExpressibleByArrayLiteral, CustomStringConvertible {
  package var dimensions: [Int]

  package init(_ dimensions: [Int]) { self.dimensions = dimensions }
  package init(arrayLiteral elements: Int...) { dimensions = elements }
  package init(from decoder: any Decoder) throws { dimensions = try [Int](from: decoder) }
  package func encode(to encoder: any Encoder) throws { try dimensions.encode(to: encoder) }

  package var rank: Int { dimensions.count }

  /// The number of elements. For dimensions that were read from a file, check `isAddressable` first.
  package var count: Int { dimensions.reduce(1, *) }

  /// Whether every dimension is at least zero and the elements take at most 2^40 bytes, at eight bytes each and with
  /// empty dimensions counted as one. This is more memory than machines have, and sums over a graph never overflow.
  package var isAddressable: Bool {
    var total = 8
    for dimension in dimensions {
      guard dimension >= 0 else { return false }
      let (product, overflow) = total.multipliedReportingOverflow(by: max(dimension, 1))
      guard !overflow, product <= 1 << 40 else { return false }
      total = product
    }
    return true
  }

  /// For each dimension, the number of elements between adjacent positions.
  package var strides: [Int] {
    var strides = [Int](repeating: 1, count: rank)
    for axis in stride(from: rank - 2, through: 0, by: -1) {
      strides[axis] = strides[axis + 1] * dimensions[axis + 1]
    }
    return strides
  }

  /// Returns the strides with which a tensor of this shape is read as one of `shape`, to which it broadcasts.
  package func strides(broadcastTo shape: Shape) -> [Int] {
    let own = strides
    let missing = shape.rank - rank
    return (0..<shape.rank).map { axis in
      axis < missing || (self[axis - missing] == 1 && shape[axis] != 1) ? 0 : own[axis - missing]
    }
  }

  package subscript(axis: Int) -> Int {
    get { dimensions[axis] }
    set { dimensions[axis] = newValue }
  }

  /// Returns the axis counted from the front, or nil if it is outside `-rank ..< rank`.
  package func normalized(axis: Int) -> Int? {
    let positive = axis < 0 ? axis + rank : axis
    return (0..<rank).contains(positive) ? positive : nil
  }

  /// Returns the common shape of two operands by NumPy's broadcasting rule, or nil if they do not match.
  package func broadcast(with other: Shape) -> Shape? {
    let rank = max(rank, other.rank)
    var result = [Int](repeating: 1, count: rank)
    for offset in 1...max(rank, 1) where offset <= rank {
      let left = offset <= self.rank ? dimensions[self.rank - offset] : 1
      let right = offset <= other.rank ? other.dimensions[other.rank - offset] : 1
      guard left == right || left == 1 || right == 1 else { return nil }
      result[rank - offset] = left == 1 ? right : left
    }
    return Shape(result)
  }

  package var description: String { dimensions.map(String.init).joined(separator: "x") }
}

/// The element type and the shape of a tensor.
package struct TensorType: Hashable, Sendable, Codable, CustomStringConvertible {
  package var scalar: ScalarType
  package var shape: Shape

  package init(_ scalar: ScalarType, _ shape: Shape) {
    self.scalar = scalar
    self.shape = shape
  }

  package var count: Int { shape.count }
  package var byteCount: Int { shape.count * scalar.byteCount }
  package var description: String { shape.rank == 0 ? scalar.rawValue : "\(scalar.rawValue)[\(shape)]" }
}

extension Shape {
  /// Returns the sizes of the shape as three axes: those before an axis, the axis, and those behind it.
  package func around(_ axis: Int) -> (outer: Int, length: Int, inner: Int) {
    (dimensions[..<axis].reduce(1, *), dimensions[axis], dimensions[(axis + 1)...].reduce(1, *))
  }
}
