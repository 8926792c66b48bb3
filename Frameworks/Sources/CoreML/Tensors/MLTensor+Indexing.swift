import Kelvin

extension MLTensor {
  /// The part at positions or ranges of the leading dimensions; nil is a whole dimension.
  ///
  /// - Precondition: the positions and ranges are within their dimensions.
  public subscript(ranges: (any MLTensorRangeExpression)?...) -> MLTensor { part(ranges) }

  /// The part at positions or ranges of the last dimensions.
  public subscript(
    fill: (UnboundedRange_) -> Void, ranges: (any MLTensorRangeExpression)?...
  ) -> MLTensor { part([.fillAll] + ranges) }

  /// The part at positions or ranges of the first and the last dimensions.
  public subscript(
    first: (any MLTensorRangeExpression)?, fill: (UnboundedRange_) -> Void, ranges: (any MLTensorRangeExpression)?...
  ) -> MLTensor { part([first, .fillAll] + ranges) }

  /// The part at positions or ranges of the first and the last dimensions.
  public subscript(
    first: (any MLTensorRangeExpression)?, second: (any MLTensorRangeExpression)?, fill: (UnboundedRange_) -> Void,
    ranges: (any MLTensorRangeExpression)?...
  ) -> MLTensor { part([first, second, .fillAll] + ranges) }

  /// The part at positions or ranges of the first and the last dimensions.
  public subscript(
    first: (any MLTensorRangeExpression)?, second: (any MLTensorRangeExpression)?,
    third: (any MLTensorRangeExpression)?, fill: (UnboundedRange_) -> Void, ranges: (any MLTensorRangeExpression)?...
  ) -> MLTensor { part([first, second, third, .fillAll] + ranges) }

  private func part(_ expressions: [(any MLTensorRangeExpression)?]) -> MLTensor {
    let kinds = expressions.map { $0?.tensorSlice.kind ?? .range(nil, nil, stride: 1) }
    let named = kinds.count { kind in
      switch kind {
      case .newAxis, .fillAll: false
      case .position, .range, .squeezeAxis: true
      }
    }
    precondition(named <= rank, "\(named) positions and ranges in a subscript of a tensor of rank \(rank)")
    var (spans, target): ([TensorSlice.Span], [Int]) = ([], [])
    func fill(_ count: Int) {
      let sizes = shape[spans.count..<spans.count + count]
      target += sizes
      spans += sizes.map { TensorSlice.Span(start: 0, count: $0, stride: 1) }
    }
    var isFilled = false
    for kind in kinds {
      if case .fillAll = kind {
        precondition(!isFilled, "a subscript has one '...' at most")
        fill(rank - named)
        isFilled = true
        continue
      }
      if case .newAxis = kind { target.append(1); continue }
      let size = shape[spans.count]
      switch kind {
      case .position(let index):
        precondition(-size..<size ~= index, "position \(index) of the size \(size)")
        spans.append(.init(start: index < 0 ? index + size : index, count: 1, stride: 1))
      case .range(let lower, let upper, let stride):
        let (lower, upper) = (lower ?? 0, upper ?? size)
        precondition(0 <= lower && lower <= upper && upper <= size, "range \(lower)..<\(upper) of the size \(size)")
        precondition(stride > 0, "a range with the stride \(stride): it must be positive")
        spans.append(.init(start: lower, count: (upper - lower + stride - 1) / stride, stride: stride))
        target.append(spans[spans.count - 1].count)
      case .squeezeAxis:
        precondition(size == 1, "the size \(size) is squeezed: it must be 1")
        fill(1)
        target.removeLast()
      case .newAxis, .fillAll: break
      }
    }
    fill(rank - spans.count)
    return sliced(spans).reshaped(to: target)
  }

  /// Returns the elements within a span of each dimension.
  func sliced(_ spans: [TensorSlice.Span]) -> MLTensor {
    let axes = shape.indices.filter { spans[$0].count != shape[$0] }
    if axes.isEmpty { return self }
    let parts = axes.map { spans[$0] }
    let ends = parts.map { $0.start + Swift.max(0, $0.count - 1) * $0.stride + 1 }
    return MLTensor(
      "Slice",
      [.node(node), .integers(parts.map(\.start)), .integers(ends), .integers(axes), .integers(parts.map(\.stride))],
      shape: spans.map(\.count), type: type)
  }

  /// Returns the slices at fixed positions of an axis.
  func taking(_ positions: some Collection<Int>, _ axis: Int) -> MLTensor {
    var target = shape
    target[axis] = positions.count
    return MLTensor(
      "Gather", [.node(node), .integers(Array(positions))], ["axis": .integer(axis)], shape: target, type: type)
  }

  /// Returns the slices at the positions that `indices` holds, along an axis. The dimensions of `indices` take the place
  /// of the axis.
  ///
  /// - Precondition: the indices are integers. Positions are within the axis.
  public func gathering(atIndices indices: MLTensor, alongAxis axis: Int) -> MLTensor {
    let axis = index(ofAxis: axis)
    return MLTensor(
      "Gather", [.node(node), .node(indices.positions.node)], ["axis": .integer(axis)],
      shape: Array(shape[..<axis]) + indices.shape + Array(shape[(axis + 1)...]), type: type)
  }

  /// Returns the elements or slices at places: the last dimension of `indices` holds a position for each of the leading
  /// dimensions.
  ///
  /// - Precondition: the indices are integers, and name at most as many dimensions as the tensor has.
  public func gathering(atIndices indices: MLTensor) -> MLTensor {
    guard let count = indices.shape.last, count <= rank else {
      preconditionFailure("places of the shape \(indices.shape) in a tensor of rank \(rank)")
    }
    return MLTensor(
      "GatherND", [.node(node), .node(indices.positions.cast(.int64).node)],
      shape: indices.shape.dropLast() + Array(shape[count...]), type: type)
  }

  private var positions: MLTensor {
    precondition(!type.isFloatingPoint && type != .bool, "indices of \(scalarType): they must be integers")
    return type == .int64 ? self : cast(.int32)
  }

  /// Returns the tensor with the elements of `replacement` where `mask` is true. Sizes of 1 are repeated.
  ///
  /// - Precondition: the mask is Boolean, and neither has more elements than the tensor.
  public func replacing(with replacement: MLTensor, where mask: MLTensor) -> MLTensor {
    precondition(mask.type == .bool, "a mask of \(mask.scalarType): it must be Boolean")
    let target = Self.broadcast([shape, replacement.shape, mask.shape], "replacing")
    precondition(target == shape, "a replacement of the shape \(target) in a tensor of the shape \(shape)")
    return MLTensor("Where", [mask, replacement.cast(type), self].map { .node($0.node) }, shape: shape, type: type)
  }

  /// Returns the tensor with a number where `mask` is true.
  ///
  /// - Precondition: the mask is Boolean, and its shape fits the tensor's.
  public func replacing(with replacement: some MLTensorScalar, where mask: MLTensor) -> MLTensor {
    replacing(with: MLTensor(replacement), where: mask)
  }

  /// Returns the tensor with the elements of `replacement` at the positions that `indices` holds along an axis. Sizes of 1
  /// are repeated.
  ///
  /// - Precondition: the indices are integers. They have the shape of the tensor except along the axis, and the
  ///   replacement fits them.
  public func replacing(with replacement: MLTensor, atIndices indices: MLTensor, alongAxis axis: Int) -> MLTensor {
    let (axis, places) = (index(ofAxis: axis), indices.shape)
    precondition(
      indices.rank == rank && Self.broadcast([replacement.shape, places], "replacing") == places,
      "replacements of the shape \(replacement.shape) at indices of the shape \(places) in \(shape)")
    if places.contains(0) { return self }
    var news = replacement.cast(type)
    if news.shape != places {
      news = MLTensor("Expand", [.node(news.node), .integers(places)], shape: places, type: type)
    }
    return MLTensor(
      "ScatterElements", [self, indices.positions, news].map { .node($0.node) }, ["axis": .integer(axis)], shape: shape,
      type: type)
  }

  /// Returns the tensor with a number at the positions that `indices` holds along an axis.
  ///
  /// - Precondition: the indices are integers, and have the shape of the tensor except along the axis.
  public func replacing(atIndices indices: MLTensor, with replacement: some MLTensorScalar, alongAxis axis: Int)
    -> MLTensor
  {
    replacing(with: MLTensor(replacement), atIndices: indices, alongAxis: axis)
  }
}
