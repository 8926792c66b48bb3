package import KelvinGraph

/// Splits each string of a list at characters (`StringSplit` of onnxruntime-extensions). Inputs: strings, the separator
/// characters, whether empty parts are omitted. Outputs: the row and column of each part as `[n, 2]`, the parts, and
/// the numbers of rows and columns. An empty separator splits into characters.
package struct StringSparseSplit: SlotOperation {
  package static let name = "string_sparse_split"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let (strings, separator) = (try strings(0, inputs), try string(1, inputs))
    guard strings.shape.rank == 1 else { throw refused(0, "expected a list of strings, got [\(strings.shape)]") }
    let omitsEmpty = try integer(2, inputs) != 0
    // The library separates bytes, which would take other characters apart.
    guard separator.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw refused(1, "the separator '\(separator.prefix(16))' is not ASCII", remedy: "separate at ASCII characters")
    }
    if separator.isEmpty, let odd = strings.strings.first(where: { $0.utf8.contains { $0 >= 0x80 } }) {
      throw refused(0, "'\(odd.prefix(16))' has no separator and is not ASCII", remedy: "give a separator")
    }
    let rows = strings.strings.map { parts(of: $0, at: separator, omitsEmpty) }
    let places = rows.enumerated().flatMap { row, parts in parts.indices.flatMap { [Int64(row), Int64($0)] } }
    return [
      .tensor(Tensor(places, [places.count / 2, 2])), try limited(rows.flatMap { $0 }),
      .list([rows.count, rows.map(\.count).max() ?? 0]),
    ]
  }

  private func parts(of string: String, at separator: String, _ omitsEmpty: Bool) -> [String] {
    if string.isEmpty { return [] }
    if separator.isEmpty { return string.unicodeScalars.map { String($0) } }
    let marks = Set(separator.utf8)
    return string.utf8.split(omittingEmptySubsequences: omitsEmpty) { marks.contains($0) }.map { String(Substring($0)) }
  }
}
