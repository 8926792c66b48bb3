import Kelvin

extension MLTensor {
  /// Returns the elements in another shape. One size may be -1, which stands for the rest.
  ///
  /// - Precondition: the shape has as many elements.
  public func reshaped(to newShape: [Int]) -> MLTensor {
    var target = newShape
    if let open = newShape.firstIndex(of: -1) {
      target[open] = 1
      let known = target.reduce(1, *)
      precondition(known > 0 && scalarCount % known == 0, "\(shape) has no form of \(newShape)")
      target[open] = scalarCount / known
    }
    precondition(
      target.allSatisfy { $0 >= 0 } && target.reduce(1, *) == scalarCount, "\(shape) has no form of \(newShape)")
    if target == shape { return self }
    return MLTensor("Reshape", [.node(node), .integers(target)], shape: target, type: type)
  }

  /// Returns the elements in one dimension.
  public func flattened() -> MLTensor { reshaped(to: [scalarCount]) }

  /// Returns the tensor with dimensions of size 1, at these axes of the result.
  public func expandingShape(at axes: [Int]) -> MLTensor {
    var target = shape
    for axis in indices(ofAxes: axes, extra: axes.count).sorted() { target.insert(1, at: axis) }
    return reshaped(to: target)
  }
  /// Returns the tensor with dimensions of size 1, at these axes of the result.
  public func expandingShape(at axes: Int...) -> MLTensor { expandingShape(at: axes) }

  /// Returns the tensor without those of the dimensions that have the size 1.
  public func squeezingShape(at axes: [Int]) -> MLTensor {
    let removed = Set(indices(ofAxes: axes).filter { shape[$0] == 1 })
    return reshaped(to: shape.indices.filter { !removed.contains($0) }.map { shape[$0] })
  }
  /// Returns the tensor without those of the dimensions that have the size 1.
  public func squeezingShape(at axes: Int...) -> MLTensor { squeezingShape(at: axes) }

  /// Returns the tensor without all dimensions of size 1.
  public func squeezingShape() -> MLTensor { squeezingShape(at: Array(shape.indices)) }

  /// Returns the tensor with its dimensions in reverse order.
  public func transposed() -> MLTensor { transposed(permutation: Array(shape.indices.reversed())) }

  /// Returns the tensor with dimension `permutation[i]` as dimension `i`.
  ///
  /// - Precondition: `permutation` names each dimension once.
  public func transposed(permutation: [Int]) -> MLTensor {
    precondition(permutation.count == rank, "the permutation \(permutation) of \(rank) dimensions")
    let order = indices(ofAxes: permutation)
    if order == Array(shape.indices) { return self }
    return MLTensor(
      "Transpose", [.node(node)], ["perm": .integers(order)], shape: order.map { shape[$0] }, type: type)
  }
  /// Returns the tensor with dimension `permutation[i]` as dimension `i`.
  ///
  /// - Precondition: `permutation` names each dimension once.
  public func transposed(permutation: Int...) -> MLTensor { transposed(permutation: permutation) }

  /// Returns the tensor with its elements in reverse order along some axes; without axes, along all.
  public func reversed(alongAxes axes: [Int]) -> MLTensor {
    indices(ofAxes: axes.isEmpty ? Array(shape.indices) : axes).reduce(self) { tensor, axis in
      tensor.taking((0..<shape[axis]).reversed(), axis)
    }
  }
  /// Returns the tensor with its elements in reverse order along some axes; without axes, along all.
  public func reversed(alongAxes axes: Int...) -> MLTensor { reversed(alongAxes: axes) }

  /// Returns the tensor, repeated `multiples[i]` times along dimension `i`.
  ///
  /// - Precondition: there is a number of at least 0 for each dimension.
  public func tiled(multiples: [Int]) -> MLTensor {
    precondition(
      multiples.count == rank && multiples.allSatisfy { $0 >= 0 }, "the multiples \(multiples) of \(rank) dimensions")
    return MLTensor(
      "Tile", [.node(node), .integers(multiples)], shape: zip(shape, multiples).map { $0 * $1 }, type: type)
  }

  /// Returns this tensor and another, one after the other along an axis.
  ///
  /// - Precondition: the shapes differ only in the size of the axis.
  public func concatenated(with other: MLTensor, alongAxis axis: Int = 0) -> MLTensor {
    MLTensor(concatenating: [self, other], alongAxis: axis)
  }

  /// Returns `count` parts of equal size along an axis.
  ///
  /// - Precondition: `count` divides the size of the axis.
  public func split(count: Int, alongAxis axis: Int = 0) -> [MLTensor] {
    let size = shape[index(ofAxis: axis)]
    precondition(count > 0 && size % count == 0, "\(count) equal parts of the size \(size)")
    return split(sizes: [Int](repeating: size / count, count: count), alongAxis: axis)
  }

  /// Returns parts of the given sizes along an axis.
  ///
  /// - Precondition: the sizes add up to the size of the axis.
  public func split(sizes: [Int], alongAxis axis: Int = 0) -> [MLTensor] {
    let axis = index(ofAxis: axis)
    precondition(
      sizes.allSatisfy { $0 >= 0 } && sizes.reduce(0, +) == shape[axis], "parts of \(sizes) of the size \(shape[axis])")
    var start = 0
    return sizes.map { size in
      defer { start += size }
      var ranges = shape.map { TensorSlice.Span(start: 0, count: $0, stride: 1) }
      ranges[axis] = TensorSlice.Span(start: start, count: size, stride: 1)
      return sliced(ranges)
    }
  }

  /// Returns the slices at each position of an axis, which they do not have.
  public func unstacked(alongAxis axis: Int = 0) -> [MLTensor] {
    let axis = index(ofAxis: axis)
    return split(count: Swift.max(1, shape[axis]), alongAxis: axis).prefix(shape[axis]).map {
      $0.squeezingShape(at: axis)
    }
  }

  /// How elements beyond the borders are chosen.
  public enum PaddingMode: Hashable, Sendable {
    /// The same number everywhere.
    case constant(Float)
    /// The elements mirrored at the border element, which is not repeated.
    case reflection
    /// The elements mirrored at the border, so that the border element is repeated.
    case symmetric
  }

  /// Returns the tensor with elements added before and after those of each dimension.
  ///
  /// - Precondition: there is a pair of sizes of at least 0 for each dimension. A mirrored dimension is large enough.
  public func padded(forSizes sizes: [(before: Int, after: Int)], mode: PaddingMode) -> MLTensor {
    precondition(
      sizes.count == rank && sizes.allSatisfy { $0.before >= 0 && $0.after >= 0 },
      "the padding \(sizes) of \(rank) dimensions")
    let skipped: Int
    switch mode {
    case .constant(let value):
      let filler = MLTensor(floatLiteral: value).cast(type)
      return MLTensor(
        "Pad", [.node(node), .integers(sizes.map(\.before) + sizes.map(\.after)), .node(filler.node)],
        shape: zip(shape, sizes).map { $0 + $1.before + $1.after }, type: type)
    case .reflection: skipped = 1
    case .symmetric: skipped = 0
    }
    return sizes.indices.reduce(self) { tensor, axis in
      let (size, before, after) = (shape[axis], sizes[axis].before, sizes[axis].after)
      if before == 0, after == 0 { return tensor }
      precondition(Swift.max(before, after) <= size - skipped, "\(mode) padding \(sizes[axis]) of the size \(size)")
      let leading = (0..<before).reversed().map { $0 + skipped }
      return tensor.taking(leading + Array(0..<size) + (0..<after).map { size - 1 - skipped - $0 }, axis)
    }
  }

  /// Returns the tensor with a number added before and after the elements of each dimension.
  ///
  /// - Precondition: there is a pair of sizes of at least 0 for each dimension.
  public func padded(forSizes sizes: [(before: Int, after: Int)], with value: Float) -> MLTensor {
    padded(forSizes: sizes, mode: .constant(value))
  }

  /// Returns matrices with zeros outside a band around the diagonal. A count of -1 keeps the whole triangle.
  ///
  /// - Precondition: the rank is at least 2.
  public func bandPart(lowerBandCount: Int, upperBandCount: Int) -> MLTensor {
    precondition(rank >= 2, "a band of a tensor of rank \(rank)")
    let (rows, columns) = (shape[rank - 2], shape[rank - 1])
    let isOutside = (0..<rows).flatMap { row in
      (0..<columns).map { column in
        (lowerBandCount >= 0 && row - column > lowerBandCount) || (upperBandCount >= 0 && column - row > upperBandCount)
      }
    }
    return replacing(with: 0 as MLTensor, where: MLTensor(shape: [rows, columns], scalars: isOutside))
  }

  /// How the pixels of a new size are computed.
  public enum ResizeMethod: Hashable, Sendable {
    /// The nearest pixel toward the first one.
    case nearestNeighbor
    /// A weighted mean of four pixels. If the corners are aligned, the corner pixels of both sizes are at the same place.
    case bilinear(alignCorners: Bool)
  }

  /// Returns images of another size.
  ///
  /// - Precondition: the shape is `[batch, channels, height, width]` or `[channels, height, width]`, the elements have
  ///   fractions, and the new size is positive.
  public func resized(to size: (newHeight: Int, newWidth: Int), method: ResizeMethod = .nearestNeighbor) -> MLTensor {
    precondition(rank == 3 || rank == 4, "images of the shape \(shape): expected 3 or 4 dimensions")
    precondition(type.isFloatingPoint && size.newHeight > 0 && size.newWidth > 0, "images of \(scalarType) in \(size)")
    if rank == 3 { return expandingShape(at: 0).resized(to: size, method: method).squeezingShape(at: 0) }
    let target = Array(shape[..<2]) + [size.newHeight, size.newWidth]
    let inputs: [TensorOperation.Input] = [.node(node), .omitted, .omitted, .integers(target)]
    switch method {
    case .nearestNeighbor:
      return MLTensor(
        "Resize", inputs,
        [
          "coordinate_transformation_mode": .string("asymmetric"), "mode": .string("nearest"),
          "nearest_mode": .string("floor"),
        ],
        shape: target, type: type)
    case .bilinear(let alignCorners):
      let places = alignCorners ? "align_corners" : "half_pixel"
      return MLTensor(
        "Resize", inputs, ["coordinate_transformation_mode": .string(places), "mode": .string("linear")],
        shape: target, type: type)
    }
  }
}
