import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinHostOperations

/// The mapping of a model's outputs to the columns of a table.
struct TableOutputs: Sendable {
  private enum Form: Sendable {
    /// One cell with one value; JSON for a value with several parts.
    case cell
    /// A column for each element of an array.
    case elements(Int)
    /// A column for each label.
    case labels([ClassLabel])
  }

  private struct Output: Sendable {
    let feature: Feature
    let form: Form
    /// The scalar type with which elements are written.
    let scalar: ScalarType
    /// The text of each label's cell, if the output is one of a list of labels.
    let labelCells: [[UInt8]]

    var columnCount: Int {
      switch form {
      case .cell: 1
      case .elements(let count): count
      case .labels(let labels): labels.count
      }
    }
  }

  /// The maximum number of columns of an array; a larger array is written as a list in one cell.
  private static let mostColumns = 4096

  private let outputs: [Output]

  /// - Throws: `ModelError` for an output that is an image.
  init(_ function: Function, separator: UInt8, isSafe: Bool) throws(ModelError) {
    var outputs: [Output] = []
    for feature in function.outputs {
      var (form, scalar): (Form, ScalarType) = (.cell, .float64)
      switch feature.type {
      case .image:
        throw ModelError(
          .featureType, "the output '\(feature.name)' is an image, which a cell cannot hold; use --output-dir")
      case .tensor(let own, _):
        scalar = own
        if let count = feature.rowWidth, count > 1, count <= Self.mostColumns { form = .elements(count) }
      case .dictionary, .dictionaries:
        let keys = function.hostOperations.compactMap { $0 as? LabelDictionary }.first { $0.output == feature.name }?
          .keys
        if let keys, keys.count <= Self.mostColumns { form = .labels(keys.labels) }
      default: break
      }
      let lists = function.hostOperations.compactMap { ($0 as? any RowColumnOperation)?.labelLists[feature.name] }
      let labelCells = (lists.first?.strings ?? []).map {
        Array(DelimitedText.field($0, separator: separator, isSafe: isSafe).utf8)
      }
      outputs.append(Output(feature: feature, form: form, scalar: scalar, labelCells: labelCells))
    }
    self.outputs = outputs
  }

  var columnCount: Int { outputs.reduce(0) { $0 + $1.columnCount } }

  /// The column names, in order.
  package var names: [String] {
    outputs.flatMap { output -> [String] in
      let name = output.feature.name
      switch output.form {
      case .cell: return [name]
      case .elements(let count): return (0..<count).map { "\(name)[\($0)]" }
      case .labels(let labels): return labels.map { "\(name)[\($0)]" }
      }
    }
  }

  /// Adds the cells of one prediction.
  ///
  /// - Parameter line: the line of the input row.
  func add(_ features: DictionaryFeatureProvider, to text: inout TableText, line: Int) throws(TableFault) {
    do throws(ModelError) { try add(features, to: &text) } catch {
      throw TableFault(line: line, column: nil, reason: error.description)
    }
  }

  private func add(_ features: DictionaryFeatureProvider, to text: inout TableText) throws(ModelError) {
    for output in outputs {
      guard let value = features[output.feature.name] else {
        text.addEmpty(output.columnCount)
        continue
      }
      switch value.storage {
      case .int64(let number): text.add(number)
      case .double(let number): text.add(number)
      case .string(let string): text.add(string)
      case .multiArray(let array): try add(array.tensor, output, to: &text)
      case .dictionary(let numbers): try add(numbers, output, to: &text)
      case .sequence(let sequence): try add(sequence, output, to: &text)
      case .image, .backing, .undefined: text.addEmpty(output.columnCount)
      }
    }
  }

  /// - Throws: if the model computed other widths than its file declares.
  func check(_ columns: [String: RowColumn]) throws(ModelError) {
    for output in outputs {
      guard case .elements(let count) = output.form, case .numbers(let rows, _)? = columns[output.feature.name],
        rows.width != count
      else { continue }
      throw mismatch(output, rows.width)
    }
  }

  private func mismatch(_ output: Output, _ count: Int) -> ModelError {
    ModelError(
      .featureType,
      "the output '\(output.feature.name)' has \(count) elements, and \(output.columnCount) columns were made for it")
  }

  /// Adds the cells of one of many rows.
  func add(_ columns: [String: RowColumn], row: Int, to text: inout TableText) {
    for output in outputs {
      switch columns[output.feature.name] {
      case .numbers(let rows, _):
        let own = rows[row]
        switch output.form {
        case .elements(let count) where own.count == count: for number in own { add(number, output, to: &text) }
        case .cell where own.count == 1: for number in own { add(number, output, to: &text) }
        case .cell: text.add(Self.list(own, output.scalar))
        default: text.addEmpty(output.columnCount)
        }
      case .labels(let labels, let indices):
        let index = indices[row]
        if output.labelCells.isEmpty {
          text.add(labels.strings[index])
        } else {
          text.add(raw: output.labelCells[index])
        }
      case .scores(_, let rows): for score in rows[row] { text.add(score) }
      case .absent, nil: text.addEmpty(output.columnCount)
      }
    }
  }

  private func add(_ number: Double, _ output: Output, to text: inout TableText) {
    switch output.feature.type {
    case .int64: text.add(Int64(Int(saturating: number)))
    case .tensor(let scalar, _): Self.add(number, scalar, to: &text)
    default: text.add(number)
    }
  }

  private static func add(_ number: Double, _ scalar: ScalarType, to text: inout TableText) {
    if scalar == .float64 {
      text.add(number)
    } else if scalar.isFloatingPoint {
      text.add(Float(number))
    } else {
      text.add(Int64(Int(saturating: number)))
    }
  }

  private func add(_ tensor: Tensor?, _ output: Output, to text: inout TableText) throws(ModelError) {
    let scalar = tensor?.type.scalar ?? .float64
    let numbers = tensor?.doubles ?? []
    switch output.form {
    case .elements(let count) where numbers.count == count:
      for number in numbers { Self.add(number, scalar, to: &text) }
    case .cell where numbers.count == 1: Self.add(numbers[0], scalar, to: &text)
    case .cell: text.add(Self.list(numbers[...], scalar))
    default:
      throw mismatch(output, numbers.count)
    }
  }

  private func add(_ entries: [ClassLabel: Double], _ output: Output, to text: inout TableText) throws(ModelError) {
    if case .labels(let labels) = output.form {
      for label in labels { if let number = entries[label] { text.add(number) } else { text.addEmpty() } }
    } else {
      text.add(try Self.json(Dictionary(entries.map { ($0.key.description, $0.value) }, uniquingKeysWith: max)))
    }
  }

  private func add(_ sequence: FeatureSequence?, _ output: Output, to text: inout TableText) throws(ModelError) {
    let dictionaries = sequence?.dictionaryValues ?? []
    switch sequence?.type {
    case .dictionary where dictionaries.count == 1: try add(dictionaries[0], output, to: &text)
    case .string:
      let texts = sequence ?? FeatureSequence(strings: [])
      text.add(texts.count == 1 ? texts.stringValues[0] : try Self.json(StringArrayDocument(texts)))
    case .int64: text.add(try Self.json(sequence?.int64Values ?? []))
    default: text.addEmpty(output.columnCount)
    }
  }

  private static func list(_ numbers: ArraySlice<Double>, _ scalar: ScalarType) -> String {
    var text = TableText(separator: UInt8(ascii: ","), isSafe: false)
    for number in numbers { add(number, scalar, to: &text) }
    return "[\(String(decoding: text.bytes, as: UTF8.self))]"
  }

  private static func json(_ value: some Encodable) throws(ModelError) -> String {
    try ModelError.wrapping {
      String(decoding: try JSONText.encode(value, unspeakable: .text, layout: .line), as: UTF8.self)
    }
  }
}
