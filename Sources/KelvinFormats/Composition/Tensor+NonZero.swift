import KelvinGraph

extension Tensor {
  /// As `NonZero` finds them, without what lies behind the count.
  var nonZeroPlaces: Tensor {
    let shape = shape.rank == 0 ? Shape([1]) : shape
    let found =
      type.scalar.isFloatingPoint
      ? doubles.indices.filter { doubles[$0] != 0 } : words.indices.filter { words[$0] != 0 }
    let places = shape.strides.enumerated().flatMap { axis, stride in
      found.map { Int64($0 / stride % shape[axis]) }
    }
    return Tensor(places, [shape.rank, found.count])
  }
}
