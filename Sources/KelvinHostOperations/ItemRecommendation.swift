package import KelvinGraph

/// Recommends items that are similar to given ones (Core ML's `itemSimilarityRecommender`). The score of item k is
/// `Σ similarity(k, i) · (score(i) - shift(k))` over the given items i.
///
/// The items with the largest scores come first; items with equal scores keep their order. The given items are
/// excluded, unless the model has an input of excluded items. Unknown items are ignored.
package struct ItemRecommendation: HostOperation {
  package static let name = "item_recommendation"

  /// An item that another is similar to, and their similarity.
  package struct Similar: Hashable, Sendable {
    package let place: Int
    package let similarity: Double

    package init(place: Int, similarity: Double) {
      self.place = place
      self.similarity = similarity
    }
  }

  /// The role of an input.
  package enum Role: Hashable, Sendable {
    /// Items with their scores, or a list of items with a score of 1 each.
    case given
    /// The number of requested items; all items if it is omitted.
    case count
    /// A list; only its items are recommended.
    case restriction
    /// A list; its items are not recommended. Without such an input, the given items are not recommended.
    case exclusion
  }

  package let items: Labels
  /// By index of an item, the items similar to it.
  package let similar: [[Similar]]
  /// By index of an item, the shift of its score.
  package let shifts: [Double]
  package let inputs: [String]
  package let roles: [Role]
  package let list: String?
  package let scores: String?
  private let places: [Column.Key: Int]

  /// Creates the operation.
  ///
  /// - Precondition: There is one list and one shift for each item, and the lists contain valid indices. One input has
  ///   the role `given`.
  package init(
    _ items: Labels, similar: [[Similar]], shifts: [Double], inputs: [(name: String, role: Role)], list: String?,
    scores: String?
  ) {
    precondition(similar.count == items.count && shifts.count == items.count, "\(items.count) items")
    self.items = items
    self.similar = similar
    self.shifts = shifts
    self.inputs = inputs.map(\.name)
    roles = inputs.map(\.role)
    self.list = list
    self.scores = scores
    places = items.column.places
  }

  package var outputs: [String] { [list, scores].compactMap { $0 } }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    (list == nil ? [] : [.unknown]) + (scores == nil ? [] : [.dictionary(isByString: items.isString)])
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    var given: [(place: Int, score: Double)] = []
    var (restriction, exclusion): (Set<Int>?, Set<Int>?)
    var most = items.count
    for (position, role) in roles.enumerated() {
      if case .absent = inputs[position], role != .given { continue }
      switch role {
      case .given: given = try scored(position, inputs)
      case .count: most = try count(position, inputs)
      case .restriction: restriction = Set(try listed(position, inputs))
      case .exclusion: exclusion = Set(try listed(position, inputs))
      }
    }
    var totals = [Double](repeating: 0, count: items.count)
    for (place, score) in given {
      for other in similar[place] { totals[other.place] += other.similarity * (score - shifts[other.place]) }
    }
    let left = exclusion ?? Set(given.map(\.place))
    let candidates = totals.indices.filter { restriction?.contains($0) != false && !left.contains($0) }
    let chosen = candidates.sorted { (totals[$0], $1) > (totals[$1], $0) }.prefix(most)
    var results: [HostValue] = []
    if list != nil { results.append(items.value(at: chosen)) }
    if scores != nil { results.append(.dictionary(HostDictionary(items.picked(chosen), chosen.map { totals[$0] }))) }
    return results
  }

  private func scored(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> [(
    place: Int, score: Double
  )] {
    guard case .dictionary(let dictionary) = inputs[position] else {
      return try listed(position, inputs).map { ($0, 1) }
    }
    guard dictionary.keys.isString == items.isString || dictionary.keys.count == 0 else {
      let (wanted, got) = items.isString ? ("strings", "whole numbers") : ("whole numbers", "strings")
      throw refused(
        position, "its items are \(got), expected \(wanted)", remedy: "give items such as \(items.column.preview)")
    }
    // The sum of floats depends on the order, which a dictionary does not define.
    return zip(dictionary.keys.column.keys, dictionary.values).compactMap { key, score in
      places[key].map { ($0, score) }
    }.sorted { $0.0 < $1.0 }
  }

  private func listed(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> [Int] {
    let (keys, _) = try items.column.elements(inputs[position], of: self, position)
    return Set(keys.compactMap { places[$0] }).sorted()
  }

  private func count(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> Int {
    guard let number = try tensor(position, inputs).doubles.first, number >= 0, number.rounded() == number else {
      throw refused(position, "expected the number of items to recommend, a whole number of at least 0")
    }
    return Int(min(number, Double(items.count)))
  }
}

extension Labels {
  fileprivate func picked(_ places: some Sequence<Int>) -> Labels {
    switch self {
    case .strings(let labels): .strings(places.map { labels[$0] })
    case .integers(let labels): .integers(places.map { labels[$0] })
    }
  }
}
