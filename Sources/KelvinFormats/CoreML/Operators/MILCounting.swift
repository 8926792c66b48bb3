import KelvinGraph

extension MILMapper {
  /// The places of what is not zero, a row for each.
  static let nonZero = MILMapper("non_zero", findsItsSize: true) { operation, scope in
    let (x, emitter) = (try operation.value("x", scope), scope.emitter)
    if let weight = emitter.weight(x) {
      let places = weight.dense().nonZeroPlaces.converted(to: .int32)
      return try emitter.transpose(emitter.constant(Weight(places), step: "places"), [1, 0])
    }
    let vector = emitter.shape(x).rank == 0 ? try emitter.reshape(x, [1], step: "vector") : x
    let results = try emitter.addAll(NonZero(scalar: .int32), [vector], step: "places")
    return try emitter.counted(try emitter.transpose(results[0], [1, 0]), axis: 0, by: results[1])
  }
}
