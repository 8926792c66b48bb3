import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinHostOperations

/// The mapping of a model's inputs to the columns of a table.
struct TableInputs: Sendable {
  enum Source: Sendable, Hashable {
    /// No column: the input is optional and omitted.
    case nowhere
    /// One cell that contains the whole value: a number, a string, or JSON for a value with several parts.
    case cell(Int)
    /// One cell for each element of an array.
    case elements([Int])
  }

  struct Input: Sendable {
    let feature: Feature
    let source: Source
    /// The number of numbers in a row; nil for an input that is not numeric or has an open size.
    let width: Int?
    /// The number that the model treats as a missing value.
    let missing: Double?
    /// The numbers that the input's type holds.
    let range: NumberRange
    /// Whether the input may be omitted.
    var isOptional: Bool { feature.isOptional || feature.defaultValue != nil }
  }

  let inputs: [Input]
  let columns: [String]
  /// The columns that inputs are read from.
  let usedColumns: Set<Int>
  /// The columns that are copied to the output.
  let kept: [Int]
  /// Remarks about unused columns and omitted inputs.
  let remarks: [String]

  /// - Parameters:
  ///   - columns: the names of the table's columns.
  ///   - given: the columns of inputs whose columns have other names; nil if the caller cannot give any.
  ///   - kept: the names of columns to copy.
  ///   - table: the table's name for errors, and its separator.
  /// - Throws: `ModelError` that names a column that is missing or duplicated, or an input that a table cannot provide.
  init(
    _ function: Function, columns: [String], given: [String: [String]]?, kept: [String], of table: TableReader.Form
  ) throws(ModelError) {
    self.columns = columns
    let indices = try Self.indices(columns, table)
    if let unknown = given?.keys.sorted().first(where: { name in !function.inputs.contains { $0.isNamed(name) } }) {
      let known = function.inputs.map { "'\($0.name)'" }.joined(separator: ", ")
      throw ModelError(.parameters, "the model has no input '\(unknown)'; it has \(known)", fault: .request)
    }
    var (inputs, absent): ([Input], [String]) = ([], [])
    var used: Set<Int> = []
    for feature in function.inputs {
      try Self.check(feature)
      let names = given?.first { feature.isNamed($0.key) }?.value
      guard let source = try Self.source(feature, names, indices, table) else {
        guard feature.isOptional || feature.defaultValue != nil else {
          throw Self.missing(feature, columns, table, canBeNamed: given != nil)
        }
        absent.append(feature.name)
        inputs.append(
          Input(
            feature: feature, source: .nowhere, width: feature.rowWidth, missing: nil, range: NumberRange(feature.type))
        )
        continue
      }
      switch source {
      case .nowhere: break
      case .cell(let index): used.insert(index)
      case .elements(let indices): used.formUnion(indices)
      }
      inputs.append(
        Input(
          feature: feature, source: source, width: feature.rowWidth,
          missing: function.missingNumber(of: feature.name), range: NumberRange(feature.type)))
    }
    var keptColumns: [Int] = []
    for name in kept {
      guard let index = indices[ExactString(name)] else {
        throw ModelError(
          .parameters, "there is no column '\(name)' to keep; there are \(Self.list(columns))", fault: .request)
      }
      keptColumns.append(index)
    }
    self.inputs = inputs
    usedColumns = used
    self.kept = keptColumns
    let extra = columns.indices.filter { !used.contains($0) && !keptColumns.contains($0) }.map { columns[$0] }
    var remarks: [String] = []
    if !extra.isEmpty { remarks.append("nothing is read from \(Self.list(extra)): the model has no such input") }
    if !absent.isEmpty { remarks.append("no column is given for \(Self.list(absent)), which the model does without") }
    self.remarks = remarks
  }

  private static func indices(_ columns: [String], _ table: TableReader.Form) throws(ModelError) -> [ExactString: Int] {
    var indices: [ExactString: Int] = [:]
    for (index, name) in columns.enumerated() {
      if let first = indices.updateValue(index, forKey: ExactString(name)) {
        throw table.fault("the columns \(first + 1) and \(index + 1) are both called '\(name)'")
      }
    }
    return indices
  }

  private static func check(_ feature: Feature) throws(ModelError) {
    let what: String
    switch feature.type {
    case .image: what = "an image; 'kelvin classify' and 'kelvin predict --input' take those"
    case .tensors, .dictionaries: what = "a sequence of arrays or dictionaries, which a cell cannot hold"
    case .state: what = "a state of the model: rows of a table are independent"
    default: return
    }
    throw ModelError(.featureType, "the input '\(feature.name)' is \(what)")
  }

  private static func source(
    _ feature: Feature, _ given: [String]?, _ indices: [ExactString: Int], _ table: TableReader.Form
  ) throws(ModelError) -> Source? {
    let width = feature.rowWidth
    if let given {
      var found: [Int] = []
      for name in given {
        guard let index = indices[ExactString(name)] else {
          throw ModelError(
            .parameters, "no column is called '\(name)', which '\(feature.name)' is read from", fault: .request)
        }
        found.append(index)
      }
      if found.count == 1 { return .cell(found[0]) }
      guard let width, found.count == width else {
        throw ModelError(
          .parameters,
          "the input '\(feature.name)' has \(width.map { "\($0) numbers" } ?? "no fixed number of parts"), "
            + "and \(found.count) columns are given for it", fault: .request)
      }
      return .elements(found)
    }
    if let index = indices[ExactString(feature.name)] { return .cell(index) }
    guard let width, width > 0, indices[ExactString("\(feature.name)[0]")] != nil else { return nil }
    var found: [Int] = []
    for element in 0..<width {
      guard let index = indices[ExactString("\(feature.name)[\(element)]")] else {
        throw table.fault(
          "the input '\(feature.name)' has \(width) numbers, and no column is called '\(feature.name)[\(element)]'")
      }
      found.append(index)
    }
    if indices[ExactString("\(feature.name)[\(width)]")] != nil {
      throw table.fault(
        "the input '\(feature.name)' has \(width) numbers, and a column is called '\(feature.name)[\(width)]'")
    }
    return .elements(found)
  }

  private static func missing(
    _ feature: Feature, _ columns: [String], _ table: TableReader.Form, canBeNamed: Bool
  ) -> ModelError {
    let expected =
      switch feature.rowWidth {
      case let width? where width > 1:
        "expected '\(feature.name)[0]' to '\(feature.name)[\(width - 1)]', or '\(feature.name)' with a list in each cell"
      default: "expected '\(feature.name)'"
      }
    var remedy = canBeNamed ? "; an input of another name is given by --columns \(feature.name)=COLUMN" : ""
    let others: [UInt8] = [UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: ",")]
    if canBeNamed, columns.count == 1,
      let other = others.first(where: { $0 != table.separator && columns[0].utf8.contains($0) })
    {
      let name = other == UInt8(ascii: "\t") ? "tab" : "'\(Character(Unicode.Scalar(other)))'"
      remedy = "; does it use another separator? --separator \(name)"
    }
    return table.fault(
      "there is no column for the input '\(feature.name)' (\(feature.type.text)): \(expected), "
        + "found \(list(columns))\(remedy)")
  }

  /// Formats the first few names as a list.
  static func list(_ names: [String]) -> String {
    let shown = names.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
    return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
  }
}
