package import KelvinGraph

extension Emitter {
  /// Returns the positions of nonzero elements, one int32 row per element; their number is known when the graph has
  /// run.
  package func nonZero(_ x: ValueID) throws -> ValueID {
    if let weight = weight(x) {
      let places = weight.dense().nonZeroPlaces.converted(to: .int32)
      return try transpose(constant(Weight(places), step: "places"), [1, 0])
    }
    let vector = shape(x).rank == 0 ? try reshape(x, [1], step: "vector") : x
    let results = try addAll(NonZero(scalar: .int32), [vector], step: "places")
    return try counted(try transpose(results[0], [1, 0]), axis: 0, by: results[1])
  }
}

extension Tensor {
  /// The result of `NonZero`, without the rows after the count.
  package var nonZeroPlaces: Tensor {
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
