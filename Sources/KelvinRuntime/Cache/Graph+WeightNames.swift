import KelvinDevices
package import KelvinGraph

extension Graph {
  /// Returns the graph with every constant named after everything its elements depend on, so that packed weights of
  /// one model can be stored under these names for all input shapes.
  ///
  /// A constant that the model's file contains depends on its offset there and keeps its name for all shapes; so does
  /// a constant computed by a recipe. Any other constant computed while building the graph may depend on everything
  /// in `facts`. The name also says whether the weight is compressed, because expanded layouts of compressed weights
  /// are not stored on disk.
  /// - Parameter facts: the types of the whole model's inputs, and elements on which sizes depend.
  package func namingWeights(for facts: [String]) -> Graph {
    (mappingRegions { region, _ in region.graph.namingOwnWeights(computedFrom: facts) } ?? self)
      .namingOwnWeights(computedFrom: facts)
  }

  private func namingOwnWeights(computedFrom inputs: [String]) -> Graph {
    var graph = self
    var places = WeightPlaces()
    for index in graph.values.indices {
      guard let weight = graph.values[index].weight else { continue }
      let facts = places.place(of: weight).map { ["stored", $0] } ?? ["computed", "\(weight.type)"] + inputs
      let mark = weight.isCompressed ? WeightName.compressedMark : "#"
      graph.values[index].name += "\(mark)\(ContentKey(facts))"
    }
    return graph
  }
}

/// Properties of a weight that its name, and so its packed key, contains.
enum WeightName {
  static let compressedMark = "#compressed-"

  /// Whether a key names a packed layout of a compressed weight that is larger than the stored weight, and is made again
  /// at every load.
  static func isExpanded(_ key: String) -> Bool {
    key.contains(compressedMark) && !key.contains("/\(PackedLayout.codes)-")
  }
}

/// The origins of weights in the model's files.
private struct WeightPlaces {
  /// The places of computed weights. A weight may be computed from another in exponentially many ways.
  private var known: [ObjectIdentifier: String?] = [:]

  /// A longer place is replaced by its digest, so that places do not grow with every computation.
  private static let longest = 1024

  /// Returns the type, and the offsets of the elements and their inputs in the model's files; nil if the weight may
  /// depend on the shapes of the model's inputs.
  mutating func place(of weight: Weight) -> String? {
    let type = weight.type
    switch weight.encoding {
    case .dense(let tensor): return tensor.bytes.isOfFile ? "\(type)@\(tensor.bytes.offset)" : nil
    case .packed(let integers):
      return integers.bytes.isOfFile ? "\(type)@\(integers.bytes.offset):\(integers.bits),\(integers.order)" : nil
    case .deferred(let deferred):
      if let place = known[ObjectIdentifier(deferred)] { return place }
      let place = deferred.recipe.flatMap { recipe in places(of: recipe.inputs).map { "\(type) \(recipe.name) \($0)" } }
      let short = place.map { $0.utf8.count > Self.longest ? "\(ContentKey([$0]))" : $0 }
      known[ObjectIdentifier(deferred)] = .some(short)
      return short
    case .palettized(let palettized):
      return places(of: weight.parts).map { "palettized \(palettized.vectorAxis) \($0)" }
    case .affine(let affine):
      return places(of: weight.parts).map { "affine \(affine.bias == nil ? "" : "with bias ")\($0)" }
    case .sparse: return places(of: weight.parts).map { "sparse \($0)" }
    case .selected: return places(of: weight.parts).map { "selected \($0)" }
    case .converted: return places(of: weight.parts).map { "\(type) of \($0)" }
    }
  }

  /// Returns the offsets of the parts. Small parts that do not come from a file are identified by their contents.
  private mutating func places(of parts: [Weight]) -> String? {
    var places: [String] = []
    for part in parts {
      if let place = place(of: part) {
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
