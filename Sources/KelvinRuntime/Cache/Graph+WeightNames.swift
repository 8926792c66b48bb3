import KelvinGraph

extension Graph {
  /// The graph with every constant named after all that its elements depend on, so that packed weights of one model can
  /// be kept under these names for any input shapes.
  ///
  /// A constant that the model's file holds depends on its place there, and keeps its name for all shapes; so does one
  /// that was computed by a recipe. Any other that was computed while the graph was built or passed may depend on all that
  /// it was built for. The name also tells whether the weight is compressed, so that its expanded forms are
  /// not kept on disk.
  /// - Parameter facts: the types of the whole model's inputs, and elements on which sizes depend.
  func namingWeights(for facts: [String]) -> Graph {
    (mappingRegions { region, _ in region.graph.namingOwnWeights(computedFrom: facts) } ?? self)
      .namingOwnWeights(computedFrom: facts)
  }

  private func namingOwnWeights(computedFrom inputs: [String]) -> Graph {
    var graph = self
    for index in graph.values.indices {
      guard let weight = graph.values[index].weight else { continue }
      let facts = weight.place.map { ["stored", $0] } ?? ["computed", "\(weight.type)"] + inputs
      let mark = weight.isCompressed ? WeightName.compressedMark : "#"
      graph.values[index].name += "\(mark)\(ContentKey(facts))"
    }
    return graph
  }
}

/// What names of weights, and so keys of packed weights, tell about them.
enum WeightName {
  static let compressedMark = "#compressed-"

  /// Whether a key names a weight whose packed form is larger than the stored one, and made anew when a model is loaded.
  static func isCompressed(_ key: String) -> Bool { key.contains(compressedMark) }
}

extension Weight {
  /// The type, and where in the model's files the elements and all they are computed from lie; nil for what may depend
  /// on the shapes of the model's inputs.
  fileprivate var place: String? {
    switch encoding {
    case .dense(let tensor): tensor.bytes.isOfFile ? "\(type)@\(tensor.bytes.offset)" : nil
    case .packed(let integers):
      integers.bytes.isOfFile ? "\(type)@\(integers.bytes.offset):\(integers.bits),\(integers.order)" : nil
    case .deferred(let deferred):
      deferred.recipe.flatMap { recipe in Self.places(recipe.inputs).map { "\(type) \(recipe.name) \($0)" } }
    case .palettized(let palettized): partPlaces.map { "palettized \(palettized.vectorAxis) \($0)" }
    case .affine(let affine): partPlaces.map { "affine \(affine.bias == nil ? "" : "with bias ")\($0)" }
    case .sparse: partPlaces.map { "sparse \($0)" }
    case .selected: partPlaces.map { "selected \($0)" }
    case .converted: partPlaces.map { "\(type) of \($0)" }
    }
  }

  private var partPlaces: String? { Self.places(parts) }

  /// Small parts count by their contents where they do not lie in a file.
  private static func places(_ parts: [Weight]) -> String? {
    var places: [String] = []
    for part in parts {
      if let place = part.place {
        places.append(place)
      } else if case .dense(let tensor) = part.encoding, tensor.bytes.count <= 1 << 16 {
        places.append("\(part.type)=\(ContentKey(tensor.bytes))")
      } else {
        return nil
      }
    }
    return "(\(places.joined(separator: " ")))"
  }
}
