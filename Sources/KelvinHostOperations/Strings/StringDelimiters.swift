package import KelvinGraph

/// Splits each string at what the first group of a regular expression matches (`StringRegexSplitWithOffsets` of
/// onnxruntime-extensions). Inputs: strings, the expression, and optionally an expression of the delimiters that are
/// parts as well. Outputs: the parts of all strings, their first and last byte positions in their string, and the
/// index of the first part of each string with the number of parts behind.
package struct StringDelimiters: SlotOperation {
  package static let name = "string_delimiters"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let delimiter = try expression(try string(1, inputs), at: 1)
    var kept: RegularExpression?
    if inputs.count > 2, let pattern = try self.strings(2, inputs).strings.first, !pattern.isEmpty {
      kept = try expression(pattern, at: 2)
    }
    var (parts, starts, ends, rows): ([String], [Int], [Int], [Int]) = ([], [], [], [])
    for string in strings.strings {
      rows.append(parts.count)
      let scalars = Array(string.unicodeScalars)
      let offsets = scalars.reduce(into: [0]) { $0.append($0[$0.count - 1] + UTF8.width($1)) }
      for range in ranges(of: scalars, at: delimiter, keeping: kept) {
        parts.append(String(String.UnicodeScalarView(scalars[range])))
        starts.append(offsets[range.lowerBound])
        ends.append(offsets[range.upperBound])
      }
    }
    return [try limited(parts), .list(starts), .list(ends), .list(rows + [parts.count])]
  }

  private func ranges(
    of scalars: [Unicode.Scalar], at delimiter: RegularExpression, keeping kept: RegularExpression?
  ) -> [Range<Int>] {
    // The library finds no delimiter with an expression that has no group.
    guard delimiter.groupCount > 0 else { return scalars.isEmpty ? [] : [0..<scalars.count] }
    let text = scalars.map(\.value)
    var ranges: [Range<Int>] = []
    var start = 0
    while start < text.count, let groups = delimiter.firstGroups(in: text, from: start, mayBeEmpty: false),
      let whole = groups[0]
    {
      let found = groups[1] ?? whole.lowerBound..<whole.lowerBound
      if found.lowerBound > start { ranges.append(start..<found.lowerBound) }
      let isKept = kept.map { $0.matches(String(String.UnicodeScalarView(scalars[found]))) } ?? false
      if isKept, !found.isEmpty { ranges.append(found) }
      start = whole.upperBound
    }
    if start < text.count { ranges.append(start..<text.count) }
    return ranges
  }
}
