import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinHostOperations

/// Which column of a table each input of a model is read from.
struct TableInputs: Sendable {
  enum Source: Sendable, Hashable {
    /// None: the input is optional, and left out.
    case nowhere
    /// The whole value in one cell: a number, a text, or JSON for what has several parts.
    case cell(Int)
    /// One cell for each number of an array.
    case elements([Int])
  }

  struct Input: Sendable {
    let feature: Feature
    let source: Source
    /// How many numbers it has in a row; nil where it has none, or as many as are given.
    let width: Int?
    /// The number that means to the model that there is none.
    let missing: Double?
    /// Whether it may be left out.
    var isOptional: Bool { feature.isOptional || feature.defaultValue != nil }
  }

  let inputs: [Input]
  let columns: [String]
  /// The columns that inputs are read from.
  let usedColumns: Set<Int>
  /// The columns that are copied.
  let kept: [Int]
  /// The columns that nothing is made of, and inputs that are left out, in words.
  let remarks: [String]

  /// - Parameters:
  ///   - columns: the names above the table's columns.
  ///   - given: the columns of inputs whose own names are not those of columns; nil where nobody can name any.
  ///   - kept: the names of columns that are copied.
  ///   - table: the table, as errors name it, and how its cells are told apart.
  /// - Throws: `ModelError` naming a column that is missing or there twice, or an input that no table has.
  init(
    _ function: Function, columns: [String], given: [String: [String]]?, kept: [String], of table: TableReader.Form
  ) throws(ModelError) {
    self.columns = columns
    let places = try Self.places(columns, table)
    if let unknown = given?.keys.sorted().first(where: { name in !function.inputs.contains { $0.name == name } }) {
      let known = function.inputs.map { "'\($0.name)'" }.joined(separator: ", ")
      throw ModelError(.parameters, "the model has no input '\(unknown)'; it has \(known)", fault: .request)
    }
    var (inputs, absent): ([Input], [String]) = ([], [])
    var used: Set<Int> = []
    for feature in function.inputs {
      try Self.check(feature)
      let names = given?[feature.name]
      guard let source = try Self.source(feature, names, places, table) else {
        guard feature.isOptional || feature.defaultValue != nil else {
          throw Self.missing(feature, columns, table, canBeNamed: given != nil)
        }
        absent.append(feature.name)
        inputs.append(Input(feature: feature, source: .nowhere, width: feature.rowWidth, missing: nil))
        continue
      }
      switch source {
      case .nowhere: break
      case .cell(let place): used.insert(place)
      case .elements(let places): used.formUnion(places)
      }
      inputs.append(
        Input(
          feature: feature, source: source, width: feature.rowWidth,
          missing: function.missingNumber(of: feature.name)))
    }
    var keptPlaces: [Int] = []
    for name in kept {
      guard let place = places[name] else {
        throw ModelError(
          .parameters, "no column '\(name)' is there to keep; there are \(Self.list(columns))", fault: .request)
      }
      keptPlaces.append(place)
    }
    self.inputs = inputs
    usedColumns = used
    self.kept = keptPlaces
    let extra = columns.indices.filter { !used.contains($0) && !keptPlaces.contains($0) }.map { columns[$0] }
    var remarks: [String] = []
    if !extra.isEmpty { remarks.append("nothing is read from \(Self.list(extra)): the model has no such input") }
    if !absent.isEmpty { remarks.append("no column is there for \(Self.list(absent)), which the model does without") }
    self.remarks = remarks
  }

  private static func places(_ columns: [String], _ table: TableReader.Form) throws(ModelError) -> [String: Int] {
    var places: [String: Int] = [:]
    for (place, name) in columns.enumerated() {
      if let first = places.updateValue(place, forKey: name) {
        throw table.fault("the columns \(first + 1) and \(place + 1) are both called '\(name)'")
      }
    }
    return places
  }

  private static func check(_ feature: Feature) throws(ModelError) {
    let what: String
    switch feature.type {
    case .image: what = "an image; 'kelvin classify' and 'kelvin predict --input' take those"
    case .tensors, .dictionaries: what = "a row of arrays or dictionaries, which no cell holds"
    case .state: what = "memory of the model's own: rows of a table do not follow each other"
    default: return
    }
    throw ModelError(.featureType, "the input '\(feature.name)' is \(what)")
  }

  private static func source(
    _ feature: Feature, _ given: [String]?, _ places: [String: Int], _ table: TableReader.Form
  ) throws(ModelError) -> Source? {
    let width = feature.rowWidth
    if let given {
      var found: [Int] = []
      for name in given {
        guard let place = places[name] else {
          throw ModelError(
            .parameters, "no column is called '\(name)', which '\(feature.name)' is to be read from", fault: .request)
        }
        found.append(place)
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
    if let place = places[feature.name] { return .cell(place) }
    guard let width, width > 0, places["\(feature.name)[0]"] != nil else { return nil }
    var found: [Int] = []
    for element in 0..<width {
      guard let place = places["\(feature.name)[\(element)]"] else {
        throw table.fault(
          "the input '\(feature.name)' has \(width) numbers, and no column is called '\(feature.name)[\(element)]'")
      }
      found.append(place)
    }
    if places["\(feature.name)[\(width)]"] != nil {
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
    if canBeNamed, columns.count == 1, let other = others.first(where: { $0 != table.separator && columns[0].utf8.contains($0) }) {
      let name = other == UInt8(ascii: "\t") ? "tab" : "'\(Character(Unicode.Scalar(other)))'"
      remedy = "; is it separated by other characters? --separator \(name)"
    }
    return table.fault(
      "no column is there for the input '\(feature.name)' (\(feature.type.text)): \(expected), "
        + "found \(list(columns))\(remedy)")
  }

  /// The first few names.
  static func list(_ names: [String]) -> String {
    let shown = names.prefix(8).map { "'\($0)'" }.joined(separator: ", ")
    return names.count > 8 ? "\(shown) and \(names.count - 8) more" : shown
  }
}
