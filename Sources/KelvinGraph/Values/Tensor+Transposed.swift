extension Tensor {
  /// The elements in the order of exchanged axes: axis `i` of the result is axis `permutation[i]`. Elements keep their
  /// bits.
  ///
  /// - Precondition: `permutation` holds every axis once.
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

/// Elements in the order of a result, read where they lie in a source.
private struct TransposedTraversal {
  /// Of the result, outermost axis first: sizes, and steps in the source. Axes that lie in the source as they do in the
  /// result are one; there are at least two.
  private let sizes, strides: [Int]
  /// Rows and columns that are copied together: their lines of the source stay in the first cache until all of their
  /// elements are read.
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
