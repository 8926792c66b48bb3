/// Encodes an array of strings as JSON: nested lists, or a single string for an array without axes.
package struct StringArrayDocument: Codable {
  package let sequence: FeatureSequence
  private static let depthLimit = 16

  package init(_ sequence: FeatureSequence) { self.sequence = sequence }

  /// - Throws: `DecodingError` for a value that is neither a string nor nested lists of equal lengths.
  package init(from decoder: any Decoder) throws {
    if let string = try? decoder.singleValueContainer().decode(String.self) {
      sequence = FeatureSequence(strings: [string], shape: [])
    } else if let row = try? decoder.singleValueContainer().decode([String].self) {
      sequence = FeatureSequence(strings: row)
    } else {
      let rows = try Self.rows(of: decoder)
      sequence = FeatureSequence(
        strings: rows.flatMap(\.stringValues), shape: [rows.count] + (rows.first?.shape ?? []))
    }
  }

  private static func rows(of decoder: any Decoder) throws -> [FeatureSequence] {
    func fault(_ reason: String) -> DecodingError {
      .dataCorrupted(DecodingError.Context(codingPath: decoder.codingPath, debugDescription: reason))
    }
    guard decoder.codingPath.count < depthLimit else { throw fault("lists are nested more than \(depthLimit) deep") }
    let rows = try decoder.singleValueContainer().decode([StringArrayDocument].self).map(\.sequence)
    guard rows.allSatisfy({ $0.shape == rows[0].shape }) else { throw fault("lists of different lengths") }
    return rows
  }

  package func encode(to encoder: any Encoder) throws {
    try Rows(strings: sequence.stringValues[...], shape: sequence.shape[...]).encode(to: encoder)
  }

  /// A part of an array: a string, or a list of parts.
  private struct Rows: Encodable {
    let strings: ArraySlice<String>
    let shape: ArraySlice<Int>

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      guard let count = shape.first else { return try container.encode(strings.first ?? "") }
      if shape.count == 1 { return try container.encode(Array(strings)) }
      let width = count == 0 ? 0 : strings.count / count
      try container.encode(
        (0..<count).map { row in
          let start = strings.startIndex + row * width
          return Rows(strings: strings[start..<start + width], shape: shape.dropFirst())
        })
    }
  }
}
