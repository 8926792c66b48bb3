import FoundationEssentials

/// The keys of a problem document that nobody reads: a remark each, or an error where it looks like a slip of the pen.
///
/// An error names the known key that is at most two edits away (letters put in, left out or replaced: Levenshtein), unless
/// that would replace all its letters. What a document says in keys that are farther away is its own business.
struct ProblemKeys: Decodable {
  private var strangers: [UnknownKey] = []

  private struct UnknownKey {
    var key: String
    /// Empty for the document itself.
    var path: [any CodingKey]
    var known: [String]
  }

  private struct AnyKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) {
      self.stringValue = stringValue
      intValue = nil
    }
    init?(intValue: Int) { nil }
  }

  /// One object, its known keys, and the objects in it.
  private struct Shape {
    let known: [String]
    var inside: [String: Shape] = [:]

    init<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type, inside: [String: Shape] = [:]) {
      known = Keys.allCases.map(\.stringValue)
      self.inside = inside
    }
  }

  private static let value = Shape(PlanningProblem.Value.CodingKeys.self)
  private static let document = Shape(
    PlanningProblem.CodingKeys.self,
    inside: [
      "transfers": Shape(PlanningProblem.Transfer.CodingKeys.self), "inputs": value,
      "nodes": Shape(PlanningProblem.Node.CodingKeys.self, inside: ["outputs": value]),
      "start": Shape(PlanningProblem.Start.CodingKeys.self), "power": Shape(PlanningProblem.Power.CodingKeys.self),
    ])

  init(from decoder: any Decoder) throws {
    try look(at: try decoder.container(keyedBy: AnyKey.self), Self.document)
  }

  private mutating func look(at object: KeyedDecodingContainer<AnyKey>, _ shape: Shape) throws {
    for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      guard shape.known.contains(key.stringValue) else {
        strangers.append(UnknownKey(key: key.stringValue, path: object.codingPath, known: shape.known))
        continue
      }
      guard let inner = shape.inside[key.stringValue] else { continue }
      // What is neither an object nor a list of some is for the problem's own decoding to refuse.
      if let one = try? object.nestedContainer(keyedBy: AnyKey.self, forKey: key) {
        try look(at: one, inner)
      } else if var list = try? object.nestedUnkeyedContainer(forKey: key) {
        while !list.isAtEnd, let one = try? list.nestedContainer(keyedBy: AnyKey.self) { try look(at: one, inner) }
      }
    }
  }

  /// One remark for each key, with the first of its places.
  /// - Throws: `unknown` where a key is nearly a known one.
  func remarks() throws(PlanningError) -> [String] {
    var places: [String: Int] = [:]
    var first: [UnknownKey] = []
    for stranger in strangers {
      if let meant = stranger.known.first(where: { Self.isSlip(stranger.key, for: $0) }) {
        throw PlanningError(
          .unknown, place(stranger), "no key is called '\(stranger.key)'", remedy: "'\(meant)' is one")
      }
      if places[stranger.key] == nil { first.append(stranger) }
      places[stranger.key, default: 0] += 1
    }
    return first.map { stranger in
      let others = (places[stranger.key] ?? 1) - 1
      let more = others == 0 ? "" : others == 1 ? " and one other place" : " and \(others) other places"
      return "\(place(stranger))\(more): no key is called '\(stranger.key)', it is not read"
    }
  }

  private func place(_ stranger: UnknownKey) -> String { "planning problem" + PlanningError.text(of: stranger.path) }

  private static func isSlip(_ key: String, for known: String) -> Bool {
    let edits = edits(Array(key.utf8), Array(known.utf8))
    return edits <= 2 && edits < known.utf8.count
  }

  private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
    // Keys so different in length need not be compared: a hostile one may be long.
    guard abs(a.count - b.count) <= 2 else { return .max }
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for j in b.indices {
        let replaced = diagonal + (letter == b[j] ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
      }
    }
    return row[b.count]
  }
}
