package import KelvinGraph

/// Splits each string at delimiters. The parts are a last axis with the size of the greatest number of parts, padded
/// with empty strings. The second output is the number of parts (ONNX's `StringSplit`).
package struct StringSplit: HostOperation {
  package static let name = "string_split"
  /// The delimiter; nil for any white space. White space at either end is ignored.
  package let delimiter: String?
  /// The greatest number of splits of a string.
  package let splits: Int?
  package let input: String
  package let parts: String
  package let counts: String

  package init(at delimiter: String?, atMost splits: Int?, input: String, parts: String, counts: String) {
    self.delimiter = delimiter
    self.splits = splits
    self.input = input
    self.parts = parts
    self.counts = counts
  }

  package var inputs: [String] { [input] }
  package var outputs: [String] { [parts, counts] }

  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard case .strings(let shape) = inputs[0] else { return [.unknown, .unknown] }
    return [.unknown, .tensor(TensorType(.int64, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let strings = try strings(0, inputs)
    let split = strings.strings.map(parts(of:))
    return [
      .strings(try StringTensor(split, strings.shape, padding: "", "parts", of: self)),
      .tensor(Tensor(split.map { Int64($0.count) }, strings.shape)),
    ]
  }

  private func parts(of string: String) -> [String] {
    guard let delimiter else { return words(of: string) }
    // Matches scalars: a combining mark after a delimiter must not hide it.
    let (scalars, mark) = (Array(string.unicodeScalars), Array(delimiter.unicodeScalars))
    var parts: [String] = []
    var (start, place) = (0, 0)
    while place + mark.count <= scalars.count, splits.map({ parts.count < $0 }) ?? true {
      if scalars[place..<place + mark.count].elementsEqual(mark) {
        parts.append(String(scalars[start..<place]))
        place += mark.count
        start = place
      } else {
        place += 1
      }
    }
    return parts + [String(scalars[start...])]
  }

  private func words(of string: String) -> [String] {
    let scalars = Array(string.unicodeScalars)
    var words: [String] = []
    var place = 0
    while true {
      while place < scalars.count, scalars[place].properties.isWhitespace { place += 1 }
      guard place < scalars.count else { return words }
      if let splits, words.count == splits { return words + [String(scalars[place...])] }
      let start = place
      while place < scalars.count, !scalars[place].properties.isWhitespace { place += 1 }
      words.append(String(scalars[start..<place]))
    }
  }
}

extension String {
  fileprivate init(_ scalars: ArraySlice<Unicode.Scalar>) {
    self.init()
    unicodeScalars.append(contentsOf: scalars)
  }
}
