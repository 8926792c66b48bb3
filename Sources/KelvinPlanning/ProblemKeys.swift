import FoundationEssentials
import KelvinBasics

/// Finds the keys of a problem document that are not read. Each gives a remark, or an error if it looks like a
/// misspelled key.
///
/// An error names a known key at a Levenshtein distance of at most two, unless that would replace all its letters.
/// Other unknown keys are permitted.
struct ProblemKeys: Decodable {
  private var strangers: [UnknownKey] = []

  private struct UnknownKey {
    var key: String
    /// The path of the object; empty for the document itself.
    var path: [any CodingKey]
    var known: [String]
  }

  /// An object's known keys, and the objects within it.
  private struct Shape {
    let known: [String]
    var inside: [String: Shape] = [:]

    init<Keys: CodingKey & CaseIterable>(_ keys: Keys.Type, inside: [String: Shape] = [:]) {
      known = Keys.allCases.map(\.stringValue)
      self.inside = inside
    }
  }

  private static let value = Shape(PlanningProblem.Value.CodingKeys.self)
  private static let weight = Shape(PlanningProblem.Weight.CodingKeys.self)
  private static let document = Shape(
    PlanningProblem.CodingKeys.self,
    inside: [
      "transfers": Shape(PlanningProblem.Transfer.CodingKeys.self), "inputs": value,
      "nodes": Shape(PlanningProblem.Node.CodingKeys.self, inside: ["outputs": value, "weights": weight]),
      "start": Shape(PlanningProblem.Start.CodingKeys.self), "power": Shape(PlanningProblem.Power.CodingKeys.self),
    ])

  init(from decoder: any Decoder) throws {
    try look(at: try decoder.container(keyedBy: JSONKey.self), Self.document)
  }

  private mutating func look(at object: KeyedDecodingContainer<JSONKey>, _ shape: Shape) throws {
    for key in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
      guard shape.known.contains(key.stringValue) else {
        strangers.append(UnknownKey(key: key.stringValue, path: object.codingPath, known: shape.known))
        continue
      }
      guard let inner = shape.inside[key.stringValue] else { continue }
      // Other types of values are rejected by the problem's own decoding.
      if let one = try? object.nestedContainer(keyedBy: JSONKey.self, forKey: key) {
        try look(at: one, inner)
      } else if var list = try? object.nestedUnkeyedContainer(forKey: key) {
        while !list.isAtEnd, let one = try? list.nestedContainer(keyedBy: JSONKey.self) { try look(at: one, inner) }
      }
    }
  }

  /// Returns one remark for each key, with its first position.
  ///
  /// - Throws: `unknown` for a key that is similar to a known one.
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
      return "\(place(stranger))\(more): no key is called '\(stranger.key)', it is ignored"
    }
  }

  private func place(_ stranger: UnknownKey) -> String { "planning problem" + PlanningError.text(of: stranger.path) }

  private static func isSlip(_ key: String, for known: String) -> Bool {
    let edits = edits(Array(key.utf8), Array(known.utf8))
    return edits <= 2 && edits < known.utf8.count
  }

  private static func edits(_ a: [UInt8], _ b: [UInt8]) -> Int {
    // Keys that differ more in length are not compared; a malicious key may be long.
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
