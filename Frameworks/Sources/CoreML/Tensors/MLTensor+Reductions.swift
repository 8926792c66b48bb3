import Kelvin

extension MLTensor {
  /// Notes a reduction. Without axes the tensor stays as it is.
  private func reduced(_ kind: String, _ axes: [Int], _ keepRank: Bool) -> MLTensor {
    let axes = indices(ofAxes: axes)
    if axes.isEmpty { return self }
    return MLTensor(
      kind, [.node(node), .integers(axes)], ["keepdims": .integer(keepRank ? 1 : 0)],
      shape: reducedShape(axes, keepRank), type: type)
  }

  private func reducedShape(_ axes: [Int], _ keepRank: Bool) -> [Int] {
    keepRank
      ? shape.indices.map { axes.contains($0) ? 1 : shape[$0] }
      : shape.indices.filter { !axes.contains($0) }.map { shape[$0] }
  }

  /// Booleans as int32; other numbers as they are.
  private var numbers: MLTensor { type == .bool ? cast(.int32) : self }

  private var booleans: MLTensor {
    precondition(type == .bool, "a logical reduction of \(scalarType)")
    return self
  }

  /// The sum along some axes; without axes, of the whole tensor.
  public func sum(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    sum(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// The sum along some axes.
  public func sum(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    numbers.reduced("ReduceSum", axes, keepRank)
  }

  /// The mean, in the tensor's type, along some axes; without axes, of the whole tensor.
  public func mean(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    mean(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// The mean, in the tensor's type, along some axes.
  public func mean(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    numbers.reduced("ReduceMean", axes, keepRank)
  }

  /// The product along some axes; without axes, of the whole tensor.
  public func product(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    product(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// The product along some axes.
  public func product(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    numbers.reduced("ReduceProd", axes, keepRank)
  }

  /// The least elements along some axes; without axes, of the whole tensor.
  public func min(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    min(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// The least elements along some axes.
  public func min(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    numbers.reduced("ReduceMin", axes, keepRank)
  }

  /// The greatest elements along some axes; without axes, of the whole tensor.
  public func max(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    max(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// The greatest elements along some axes.
  public func max(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    numbers.reduced("ReduceMax", axes, keepRank)
  }

  /// Whether all Booleans are true along some axes; without axes, of the whole tensor.
  public func all(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    all(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// Whether all Booleans are true along some axes.
  public func all(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    booleans.reduced("ReduceMin", axes, keepRank)
  }

  /// Whether any Boolean is true along some axes; without axes, of the whole tensor.
  public func any(alongAxes axes: Int..., keepRank: Bool = false) -> MLTensor {
    any(alongAxes: axes.isEmpty ? Array(shape.indices) : axes, keepRank: keepRank)
  }
  /// Whether any Boolean is true along some axes.
  public func any(alongAxes axes: [Int], keepRank: Bool = false) -> MLTensor {
    booleans.reduced("ReduceMax", axes, keepRank)
  }

  private func extremum(_ kind: String, _ axis: Int, _ keepRank: Bool) -> MLTensor {
    let axis = index(ofAxis: axis)
    precondition(shape[axis] > 0, "\(kind) along axis \(axis) of the shape \(shape)")
    return MLTensor(
      kind, [.node(numbers.node)], ["axis": .integer(axis), "keepdims": .integer(keepRank ? 1 : 0)],
      shape: reducedShape([axis], keepRank), type: .int64
    ).cast(.int32)
  }

  /// The positions of the greatest elements along an axis, as int32; of equal elements, that of the first.
  public func argmax(alongAxis axis: Int, keepRank: Bool = false) -> MLTensor { extremum("ArgMax", axis, keepRank) }
  /// The position of the greatest element in row-major order, as int32; of equal elements, that of the first.
  public func argmax() -> MLTensor { flattened().argmax(alongAxis: 0) }
  /// The positions of the least elements along an axis, as int32; of equal elements, that of the first.
  public func argmin(alongAxis axis: Int, keepRank: Bool = false) -> MLTensor { extremum("ArgMin", axis, keepRank) }
  /// The position of the least element in row-major order, as int32; of equal elements, that of the first.
  public func argmin() -> MLTensor { flattened().argmin(alongAxis: 0) }

  private func order(_ count: Int, _ axis: Int, isDescending: Bool) -> MLTensor {
    var target = shape
    target[axis] = count
    return MLTensor(
      "TopK", [.node(numbers.node), .integers([count])],
      ["axis": .integer(axis), "largest": .integer(isDescending ? 1 : 0)], output: 1, shape: target, type: .int64)
  }

  /// The positions of the elements in sorted order along an axis, as int32. Equal elements keep their order.
  public func argsort(alongAxis axis: Int = -1, descendingOrder: Bool = false) -> MLTensor {
    let axis = index(ofAxis: axis)
    return order(shape[axis], axis, isDescending: descendingOrder).cast(.int32)
  }

  /// The `k` greatest elements along the last axis, the greatest first, and their positions as int32.
  ///
  /// - Precondition: the last axis has at least `k` elements.
  public func topK(_ k: Int) -> (values: MLTensor, indices: MLTensor) {
    let axis = index(ofAxis: -1)
    precondition(0...shape[axis] ~= k, "the \(k) greatest of \(shape[axis]) elements")
    let order = order(k, axis, isDescending: true)
    let values = MLTensor(
      "GatherElements", [.node(node), .node(order.node)], ["axis": .integer(axis)], shape: order.shape, type: type)
    return (values, order.cast(.int32))
  }

  private func cumulative(_ kind: String, _ axis: Int) -> MLTensor {
    MLTensor(kind, [.node(numbers.node), .integer(index(ofAxis: axis))], shape: shape, type: numbers.type)
  }

  /// The sums of all elements up to each one, along an axis.
  public func cumulativeSum(alongAxis axis: Int = 0) -> MLTensor { cumulative("CumSum", axis) }
  /// The products of all elements up to each one, along an axis.
  public func cumulativeProduct(alongAxis axis: Int = 0) -> MLTensor { cumulative("CumProd", axis) }

  /// The powers of e, divided by their sum along an axis.
  public func softmax(alongAxis axis: Int = -1) -> MLTensor {
    let x = type.isFloatingPoint ? self : cast(.float32)
    return MLTensor(
      "Softmax", [.node(x.node)], ["axis": .integer(index(ofAxis: axis))], shape: shape, type: x.type)
  }

  /// The matrix product. Tensors of one dimension are a row on the left and a column on the right. Tensors of more than
  /// two dimensions are batches of matrices, whose sizes of 1 are repeated.
  ///
  /// - Precondition: the last size equals the second to last of `other`, or its only one.
  public func matmul(_ other: MLTensor) -> MLTensor {
    precondition(rank > 0 && other.rank > 0, "a matrix product of the shapes \(shape) and \(other.shape)")
    let (left, right) = (rank == 1 ? [1] + shape : shape, other.rank == 1 ? other.shape + [1] : other.shape)
    precondition(
      left[left.count - 1] == right[right.count - 2], "a matrix product of the shapes \(shape) and \(other.shape)")
    var target = Self.broadcast([left.dropLast(2), right.dropLast(2)].map(Array.init), "matmul")
    if rank > 1 { target.append(left[left.count - 2]) }
    if other.rank > 1 { target.append(right[right.count - 1]) }
    let type = numbers.type.promoted(with: other.numbers.type)
    return MLTensor("MatMul", [.node(cast(type).node), .node(other.cast(type).node)], shape: target, type: type)
  }
}
