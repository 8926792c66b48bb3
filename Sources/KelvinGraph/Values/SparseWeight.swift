/// A sparse weight: a mask and the elements that it selects, in memory order; all other elements are zero.
package struct SparseWeight: Sendable {
  package let values: Weight
  /// The mask, of type uint8: nonzero where there is an element.
  package let mask: Weight

  func dense() -> Tensor {
    let type = TensorType(values.type.scalar, mask.type.shape)
    let values = values.dense()
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        switch type.scalar.byteCount {
        case 1: MaskedElements.scatter(values, mask, to: target, UInt8.self)
        case 2: MaskedElements.scatter(values, mask, to: target, UInt16.self)
        case 4: MaskedElements.scatter(values, mask, to: target, UInt32.self)
        default: MaskedElements.scatter(values, mask, to: target, UInt64.self)
        }
      })
  }
}

/// The elements of a weight that a mask selects, in one dimension.
package struct SelectedWeight: Sendable {
  package let source: Weight
  package let mask: Weight
  let count: Int

  func dense() -> Tensor {
    let type = TensorType(source.type.scalar, [count])
    let values = source.dense()
    return Tensor(
      type,
      Bytes(count: type.byteCount) { target in
        switch type.scalar.byteCount {
        case 1: MaskedElements.gather(values, mask, to: target, UInt8.self)
        case 2: MaskedElements.gather(values, mask, to: target, UInt16.self)
        case 4: MaskedElements.gather(values, mask, to: target, UInt32.self)
        default: MaskedElements.gather(values, mask, to: target, UInt64.self)
        }
      })
  }
}

/// Moves elements between a tensor and the list of those that a mask selects.
private enum MaskedElements {
  static func scatter<T: FixedWidthInteger & BitwiseCopyable>(
    _ values: Tensor, _ mask: Weight, to target: UnsafeMutableRawBufferPointer, _: T.Type
  ) {
    let last = values.count - 1
    withElements(values, target) { (input: UnsafePointer<T>, output: UnsafeMutablePointer<T>) in
      guard last >= 0 else { return }
      forEach(mask) { start, codes, count, next in
        for index in 0..<count {
          // 1 unless the mask is 0, without a branch, which would be unpredictable.
          let isThere = Int((codes[index] | (0 &- codes[index])) >> 7)
          output[start &+ index] = input[min(next, last)] & (0 &- T(truncatingIfNeeded: isThere))
          next &+= isThere
        }
      }
    }
  }

  static func gather<T: FixedWidthInteger & BitwiseCopyable>(
    _ values: Tensor, _ mask: Weight, to target: UnsafeMutableRawBufferPointer, _: T.Type
  ) {
    withElements(values, target) { (input: UnsafePointer<T>, output: UnsafeMutablePointer<T>) in
      forEach(mask) { start, codes, count, next in
        for index in 0..<count where codes[index] != 0 {
          output[next] = input[start + index]
          next += 1
        }
      }
    }
  }

  @inline(__always)
  private static func withElements<T: BitwiseCopyable>(
    _ values: Tensor, _ target: UnsafeMutableRawBufferPointer,
    _ body: (UnsafePointer<T>, UnsafeMutablePointer<T>) -> Void
  ) {
    guard let output = target.bindMemory(to: T.self).baseAddress else { return }
    let input = values.bytes.aligned(to: T.self)
    withExtendedLifetime(input) { body(input.baseAddress.assumingMemoryBound(to: T.self), output) }
  }

  /// Calls `body` with consecutive pieces of the mask; `next` counts the elements selected so far.
  @inline(__always)
  private static func forEach(
    _ mask: Weight, _ body: (_ start: Int, _ mask: UnsafePointer<UInt8>, _ count: Int, _ next: inout Int) -> Void
  ) {
    guard let grid = BlockGrid([mask.type.count], blocks: [1]) else { return }
    var total = 0
    mask.forEachCode(grid) { start, codes, count, _ in
      var next = total
      body(start, codes, count, &next)
      total = next
    }
  }
}

extension Weight {
  /// Creates a weight that is zero except where a mask selects the given elements.
  ///
  /// - Parameters:
  ///   - values: The elements in one dimension, in memory order.
  ///   - mask: uint8 elements, usually packed ones of one bit, in the shape of the result.
  /// - Throws: `GraphError` if the mask selects another number of elements. The check reads the mask.
  package init(sparse values: Weight, mask: Weight) throws(GraphError) {
    let count = try mask.maskCount()
    guard values.type.shape.rank == 1, values.type.count == count else {
      throw GraphError("sparse weight", "the mask lets \(count) elements through, \(values.type) are given")
    }
    try self.init(
      .sparse(SparseWeight(values: values, mask: mask)), TensorType(values.type.scalar, mask.type.shape),
      of: [values, mask])
  }

  /// Returns the elements that a mask of the weight's shape selects, in one dimension.
  package func selected(by mask: Weight) throws(GraphError) -> Weight {
    guard mask.type.shape == type.shape else {
      throw GraphError("sparse weight", "a mask \(mask.type.shape) selects elements of \(type)")
    }
    let count = try mask.maskCount()
    return try Weight(
      .selected(SelectedWeight(source: self, mask: mask, count: count)), TensorType(type.scalar, [count]),
      of: [self, mask])
  }

  /// Returns the number of elements that a mask selects.
  private func maskCount() throws(GraphError) -> Int {
    guard type.scalar == .uint8 else { throw GraphError("sparse weight", "the mask is \(type), expected bits") }
    switch encoding {
    case .packed(let bits): return bits.nonzeroCount
    case .palettized(let grown):
      // A mask that was extended along an axis has a table of two entries.
      guard case .packed(let bits) = grown.indices.encoding, bits.bits == 1, grown.table.type.count <= 1 << 12,
        grown.table.type.shape.dimensions.dropLast(2).allSatisfy({ $0 == 1 })
      else { break }
      let entries = grown.table.dense().integers
      let size = grown.table.type.shape.dimensions.last ?? 1
      let (off, on) = (entries[..<size].count { $0 != 0 }, entries[size..<2 * size].count { $0 != 0 })
      let ones = bits.nonzeroCount
      return (bits.count - ones) * off + ones * on
    default: break
    }
    return dense().bytes.withUnsafeBytes { $0.reduce(0) { $0 + ($1 == 0 ? 0 : 1) } }
  }
}
