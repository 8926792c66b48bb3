extension Tensor {
  /// Returns the elements with permuted axes: axis `i` of the result is axis `permutation[i]`. Elements keep their
  /// bits.
  ///
  /// - Precondition: `permutation` contains every axis once.
  package func transposed(_ permutation: [Int]) -> Tensor {
    let type = TensorType(type.scalar, Shape(permutation.map { shape[$0] }))
    let walk = TransposedTraversal(type.shape.dimensions, strides: permutation.map { shape.strides[$0] })
    let result = bytes.withUnsafeBytes { source in
      Bytes(count: bytes.count) { target in
        switch type.scalar.byteCount {
        case 1: walk.copy(source, target, as: UInt8.self)
        case 2: walk.copy(source, target, as: UInt16.self)
        case 4: walk.copy(source, target, as: UInt32.self)
        default: walk.copy(source, target, as: UInt64.self)
        }
      }
    }
    return Tensor(type, result)
  }
}

/// An iteration over a source's elements in the order of the result.
private struct TransposedTraversal {
  /// The sizes of the result, outermost axis first, and the strides in the source. Axes that are contiguous in both are
  /// merged; there are at least two axes.
  private let sizes, strides: [Int]
  /// The number of rows and columns that are copied together. Their cache lines of the source stay in the first-level
  /// cache until all their elements are read.
  private static let side = 16

  init(_ sizes: [Int], strides: [Int]) {
    var (merged, steps): ([Int], [Int]) = ([1, 1], [0, 0])
    for (size, stride) in zip(sizes, strides) where size != 1 {
      if let last = steps.last, merged.count > 2, last == stride * size {
        merged[merged.count - 1] *= size
        steps[steps.count - 1] = stride
      } else {
        merged.append(size)
        steps.append(stride)
      }
    }
    let spare = min(2, merged.count - 2)
    self.sizes = Array(merged.dropFirst(spare))
    self.strides = Array(steps.dropFirst(spare))
  }

  func copy<Element: BitwiseCopyable>(
    _ source: UnsafeRawBufferPointer, _ target: UnsafeMutableRawBufferPointer, as _: Element.Type
  ) {
    guard target.count > 0 else { return }
    let size = MemoryLayout<Element>.stride
    let (rows, columns) = (sizes[sizes.count - 2], sizes[sizes.count - 1])
    let (rowStride, columnStride) = (strides[strides.count - 2], strides[strides.count - 1])
    var position = [Int](repeating: 0, count: sizes.count - 2)
    var from = 0
    for start in stride(from: 0, to: target.count / size, by: rows * columns) {
      for top in stride(from: 0, to: rows, by: Self.side) {
        for left in stride(from: 0, to: columns, by: Self.side) {
          for row in top..<min(top + Self.side, rows) {
            for column in left..<min(left + Self.side, columns) {
              let element = source.loadUnaligned(
                fromByteOffset: (from + row * rowStride + column * columnStride) * size, as: Element.self)
              target.storeBytes(of: element, toByteOffset: (start + row * columns + column) * size, as: Element.self)
            }
          }
        }
      }
      var axis = position.count - 1
      while axis >= 0 {
        position[axis] += 1
        from += strides[axis]
        if position[axis] < sizes[axis] { break }
        from -= strides[axis] * sizes[axis]
        position[axis] = 0
        axis -= 1
      }
    }
  }
}
