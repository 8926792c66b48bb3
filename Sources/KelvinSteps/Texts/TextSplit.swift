package import KelvinGraph

/// The parts of each text between delimiters, in a last axis as long as the most parts, with empty texts behind fewer; and
/// how many there are (ONNX's `StringSplit`).
package struct TextSplit: HostStep {
  package static let name = "text_split"
  /// Nil for any white space, of which what is at either end makes no part.
  package let delimiter: String?
  /// The most places at which a text is split.
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

  package func types(_ inputs: [HostType]) throws(StepError) -> [HostType] {
    guard case .texts(let shape) = inputs[0] else { return [.unknown, .unknown] }
    return [.unknown, .tensor(TensorType(.int64, shape))]
  }

  package func run(_ inputs: [HostValue]) throws(StepError) -> [HostValue] {
    let texts = try texts(0, inputs)
    let split = texts.texts.map(parts(of:))
    let most = split.reduce(0) { max($0, $1.count) }
    let shape = Shape(texts.shape.dimensions + [most])
    guard TextTensor.takes(shape) else {
      throw refused(
        0, "\(texts.texts.count) texts of up to \(most) parts are more than \(TextTensor.countLimit) texts",
        remedy: "give fewer or shorter ones")
    }
    let padded = split.flatMap { parts in parts + [String](repeating: "", count: most - parts.count) }
    return [
      .texts(TextTensor(padded, shape)), .tensor(Tensor(split.map { Int64($0.count) }, texts.shape)),
    ]
  }

  private func parts(of text: String) -> [String] {
    guard let delimiter else { return words(of: text) }
    // By scalars: an accent after a delimiter is none of its own.
    let (scalars, mark) = (Array(text.unicodeScalars), Array(delimiter.unicodeScalars))
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

  private func words(of text: String) -> [String] {
    let scalars = Array(text.unicodeScalars)
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
