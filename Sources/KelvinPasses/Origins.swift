import KelvinGraph

extension [Origin] {
  /// The distinct operations, each with the work of all its entries.
  var joiningEqualOnes: [Origin] {
    var result: [Origin] = []
    var places: [Origin: Int] = [:]
    for origin in self {
      let operation = Origin(name: origin.name, kind: origin.kind, index: origin.index)
      if let place = places[operation] {
        result[place].work += origin.work
      } else {
        places[operation] = result.count
        result.append(origin)
      }
    }
    return result
  }
}
