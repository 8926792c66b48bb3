import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph

/// An error in a row of a table.
struct TableFault: Error, Hashable {
  let line: Int
  let column: String?
  let reason: String

  var description: String { "line \(line)\(column.map { ", column '\($0)'" } ?? ""): \(reason)" }
}

/// A block of a table, with methods that read its cells as model inputs.
struct TableCells {
  let table: TableInputs
  let rows: DelimitedRows

  /// - Throws: if the row's number of cells differs from the number of columns, or a copied cell is not UTF-8.
  func check(_ row: DelimitedRows.Row) throws(TableFault) {
    guard row.count != table.columns.count else {
      for column in table.kept { _ = try text(column, row) }
      return
    }
    throw TableFault(
      line: row.line, column: nil,
      reason: "it has \(counted(row.count, "cell")), expected \(table.columns.count)")
  }

  /// Appends a row's numbers for an input; NaN or the default value if the input is omitted.
  ///
  /// - Precondition: the input has a width.
  func append(
    _ input: TableInputs.Input, of row: DelimitedRows.Row, to numbers: inout [Double]
  ) throws(TableFault) {
    switch input.source {
    case .nowhere: append(leftOut: input, to: &numbers)
    case .elements(let columns):
      if input.isOptional, columns.allSatisfy({ isEmpty($0, row) }) { return append(leftOut: input, to: &numbers) }
      for column in columns { numbers.append(try number(input, column, row)) }
    case .cell(let column):
      if isEmpty(column, row), input.isOptional { return append(leftOut: input, to: &numbers) }
      if input.width == 1, let first = first(column, row), first != UInt8(ascii: "[") {
        numbers.append(try number(input, column, row))
      } else if input.width == 1, isEmpty(column, row) {
        numbers.append(try number(input, column, row))
      } else {
        numbers += try list(input, column, row)
      }
    }
  }

  private func append(leftOut input: TableInputs.Input, to numbers: inout [Double]) {
    numbers.append(contentsOf: repeatElement(input.feature.defaultValue ?? .nan, count: input.width ?? 0))
  }

  /// Returns a row's value for an input; nil if it is omitted.
  func value(_ input: TableInputs.Input, of row: DelimitedRows.Row) throws(TableFault) -> FeatureValue? {
    switch (input.source, input.feature.type) {
    case (.nowhere, _): return nil
    case (.cell(let column), _) where isEmpty(column, row) && input.isOptional: return nil
    case (.elements(let columns), _) where input.isOptional && columns.allSatisfy({ isEmpty($0, row) }): return nil
    case (.cell(let column), .int64):
      let field = rows.fields[row.first + column]
      if let whole = rows.withBytes(of: field, NumberText.integer) { return FeatureValue(int64: whole) }
      guard let whole = Int64(exactly: try number(input, column, row)) else {
        throw fault(column, row, "it is empty, but an integer type has no value for a missing number")
      }
      return FeatureValue(int64: whole)
    case (.cell(let column), .double): return FeatureValue(double: try number(input, column, row))
    case (.cell(let column), .string): return FeatureValue(string: try text(column, row))
    case (_, .tensor(let scalar, let dimensions)):
      var numbers: [Double] = []
      var shape = input.feature.rowShape
      if shape == nil, case .cell(let column) = input.source {
        numbers = try list(input, column, row)
        shape = Self.shape(of: numbers.count, dimensions)
      } else {
        try append(input, of: row, to: &numbers)
      }
      guard let shape, shape.count == numbers.count else {
        throw fault(input, row, "expected \(input.feature.type.text), got \(numbers.count) numbers")
      }
      guard scalar.isFloatingPoint || !numbers.contains(where: \.isNaN) else {
        throw fault(input, row, "a number is missing, for which an integer type has no value")
      }
      return FeatureValue(multiArray: MultiArray(Tensor(TensorType(scalar, shape), rounding: numbers)))
    case (.cell(let column), .dictionary(let keys)): return try dictionary(keys, input, column, row)
    case (.cell(let column), .sequence), (.cell(let column), .strings): return try sequence(input, column, row)
    default: throw fault(input, row, "a cell cannot hold \(input.feature.type.text)")
    }
  }

  /// Returns a cell's contents as a string.
  func text(_ column: Int, _ row: DelimitedRows.Row) throws(TableFault) -> String {
    guard let text = rows.text(of: rows.fields[row.first + column]) else {
      throw fault(column, row, "its bytes are not UTF-8; convert the file: iconv -f LATIN1 -t UTF-8")
    }
    return text
  }

  private func isEmpty(_ column: Int, _ row: DelimitedRows.Row) -> Bool {
    let field = rows.fields[row.first + column]
    return field.start == field.end || rows.withBytes(of: field) { $0.allSatisfy { $0 == UInt8(ascii: " ") } }
  }

  private func first(_ column: Int, _ row: DelimitedRows.Row) -> UInt8? {
    rows.withBytes(of: rows.fields[row.first + column]) { $0.first { $0 != UInt8(ascii: " ") } }
  }

  private func number(_ input: TableInputs.Input, _ column: Int, _ row: DelimitedRows.Row) throws(TableFault) -> Double
  {
    let field = rows.fields[row.first + column]
    if input.feature.takesWholeNumbers {
      if let whole = rows.withBytes(of: field, NumberText.integer) {
        return try inRange(Double(whole), input, column, row)
      }
      if input.feature.takesBooleans, let value = rows.text(of: field).flatMap({ NumberText.boolean($0) }) {
        return value ? 1 : 0
      }
    } else if let number = rows.withBytes(of: field, NumberText.double) {
      return try inRange(number, input, column, row)
    } else if let special = rows.withBytes(of: field, NumberText.word) {
      return special
    }
    guard isEmpty(column, row) else {
      let kind =
        input.feature.takesBooleans
        ? "true or false" : input.feature.takesWholeNumbers ? "a whole number" : "a number"
      throw fault(
        column, row,
        "expected \(kind), got '\(try text(column, row).prefix(40))'; write digits such as 12, -0.5 or 1e-3")
    }
    guard let missing = input.missing else {
      throw fault(
        column, row,
        "it is empty, but the model has no rule for a missing number; fill it in, or remove the row"
      )
    }
    return missing
  }

  private func inRange(
    _ number: Double, _ input: TableInputs.Input, _ column: Int, _ row: DelimitedRows.Row
  ) throws(TableFault) -> Double {
    guard input.range.contains(number) else {
      throw fault(
        column, row,
        "expected a number \(input.range.text), got '\(try text(column, row).prefix(40))'; correct it, or remove the row"
      )
    }
    return number
  }

  private func list(_ input: TableInputs.Input, _ column: Int, _ row: DelimitedRows.Row) throws(TableFault) -> [Double]
  {
    let text = try text(column, row)
    guard let value = try? JSONText.decode(NestedNumbers.self, from: Data(text.utf8)) else {
      throw fault(column, row, "expected a list such as [1.5, 2], got '\(text.prefix(40))'")
    }
    var numbers: [Double] = []
    for leaf in value.leaves {
      switch leaf {
      case .number(let number?): numbers.append(try inRange(number, input, column, row))
      case .boolean(let boolean) where input.feature.takesBooleans: numbers.append(boolean ? 1 : 0)
      case .boolean(let boolean): throw fault(column, row, "expected numbers, got \(boolean)")
      case .number(nil), .list:
        guard let missing = input.missing else {
          throw fault(column, row, "it has a null, but the model has no rule for a missing number")
        }
        numbers.append(missing)
      }
    }
    if let width = input.width, numbers.count != width {
      throw fault(column, row, "expected \(width) numbers, got \(numbers.count)")
    }
    if input.feature.takesWholeNumbers, let fraction = numbers.first(where: { $0 != $0.rounded() }) {
      throw fault(column, row, "expected whole numbers, got \(fraction)")
    }
    return numbers
  }

  private func dictionary(
    _ keys: FeatureKind.KeyType, _ input: TableInputs.Input, _ column: Int, _ row: DelimitedRows.Row
  ) throws(TableFault) -> FeatureValue {
    let text = try text(column, row)
    guard let entries = try? JSONText.decode([String: Double].self, from: Data(text.utf8)) else {
      throw fault(column, row, "expected numbers by key such as {\"key\": 1}, got '\(text.prefix(40))'")
    }
    var dictionary: [ClassLabel: Double] = [:]
    for (key, number) in entries {
      guard keys == .int64 else {
        dictionary[.string(key)] = number
        continue
      }
      guard let whole = Int64(key) else { throw fault(column, row, "the key '\(key)' is not a whole number") }
      dictionary[.int64(whole)] = number
    }
    return FeatureValue(dictionary: dictionary)
  }

  private func sequence(_ input: TableInputs.Input, _ column: Int, _ row: DelimitedRows.Row) throws(TableFault)
    -> FeatureValue
  {
    let text = try text(column, row)
    if case .sequence(.int64) = input.feature.type {
      guard let numbers = try? JSONText.decode([Int64].self, from: Data(text.utf8)) else {
        throw fault(column, row, "expected a list such as [1, 2], got '\(text.prefix(40))'")
      }
      return FeatureValue(sequence: FeatureSequence(int64s: numbers))
    }
    // A string that is not a list is treated as a list with one element.
    guard text.beginsList, let texts = try? JSONText.decode(StringArrayDocument.self, from: Data(text.utf8)) else {
      return FeatureValue(sequence: FeatureSequence(strings: [text]))
    }
    return FeatureValue(sequence: texts.sequence)
  }

  private static func shape(of count: Int, _ dimensions: [Dimension]) -> Shape? {
    let open = dimensions.indices.filter { dimensions[$0].isFlexible }
    var sizes = dimensions.map { if case .fixed(let size) = $0 { size } else { 1 } }
    // Of several open sizes, the last one is computed and the others, which are batch sizes, are 1.
    guard let last = open.last else { return nil }
    let rest = sizes.reduce(1, *)
    guard rest > 0, count.isMultiple(of: rest) else { return nil }
    sizes[last] = count / rest
    return zip(dimensions, sizes).allSatisfy { $0.accepts($1) } ? Shape(sizes) : nil
  }

  private func fault(_ column: Int, _ row: DelimitedRows.Row, _ reason: String) -> TableFault {
    TableFault(line: row.line, column: table.columns[column], reason: reason)
  }

  private func fault(_ input: TableInputs.Input, _ row: DelimitedRows.Row, _ reason: String) -> TableFault {
    TableFault(line: row.line, column: input.feature.name, reason: reason)
  }
}

extension String {
  /// Whether the string begins with `[`, after white space that JSON skips.
  fileprivate var beginsList: Bool {
    utf8.first { !" \t\n\r".utf8.contains($0) } == UInt8(ascii: "[")
  }
}

extension Feature {
  /// Whether the feature takes only integers.
  fileprivate var takesWholeNumbers: Bool {
    switch type {
    case .int64: true
    case .tensor(let scalar, _): !scalar.isFloatingPoint
    default: false
    }
  }

  fileprivate var takesBooleans: Bool { if case .tensor(.bool, _) = type { true } else { false } }
}

/// Nested lists of numbers and booleans of any depth; nil for `null`.
private enum NestedNumbers: Decodable {
  case number(Double?)
  case boolean(Bool)
  case list([NestedNumbers])

  init(from decoder: any Decoder) throws {
    if let list = try? [NestedNumbers](from: decoder) {
      self = .list(list)
      return
    }
    let single = try decoder.singleValueContainer()
    if let boolean = try? single.decode(Bool.self) {
      self = .boolean(boolean)
      return
    }
    self = .number(single.decodeNil() ? nil : try single.decode(Double.self))
  }

  var leaves: [NestedNumbers] { if case .list(let parts) = self { parts.flatMap(\.leaves) } else { [self] } }
}
