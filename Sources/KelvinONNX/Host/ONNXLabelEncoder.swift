import KelvinGraph
import KelvinHostOperations
import KelvinImport

extension ONNXHostMapper {
  /// A lookup table from strings, integers or floats to strings, integers or floats.
  static let labelEncoder = ONNXHostMapper("ai.onnx.ml.LabelEncoder") { (node) throws(FormatError) in
    var otherwise: Column
    let (keys, values): (Column, Column)
    if !node.strings("classes_strings").isEmpty {
      // Version 1: the table maps strings to their indices or back, depending on the type of the input.
      let strings = Column.strings(node.strings("classes_strings"))
      let places = Column.integers((0..<strings.count).map(Int64.init))
      (keys, values) = node.isHostValue(0) ? (strings, places) : (places, strings)
    } else {
      guard let known = try node.column("keys"), let mapped = try node.column("values"), known.count == mapped.count
      else {
        throw node.malformed("expected as many keys as values")
      }
      (keys, values) = (known, mapped)
    }
    let attributes = node.node.attributes
    switch values {
    case .strings: otherwise = .strings([node.text("default_string", default: "_Unused")])
    case .integers: otherwise = .integers([Int64(node.integer("default_int64", default: -1))])
    case .floats: otherwise = .floats([node.float("default_float", default: -0.0)])
    }
    if let given = try attributes["default_tensor"]?.tensor?.column(node) { otherwise = given }
    guard otherwise.count == 1, otherwise.isAlike(values) else {
      throw node.malformed("its default is not a single value of the same type")
    }
    let isString = if case .strings = values { true } else { false }
    let step = ValueMap(keys, to: values, otherwise: otherwise, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: isString)]
  }

  /// Maps strings to integers or integers to strings, depending on the type of the input.
  static let categoryMapper = ONNXHostMapper("ai.onnx.ml.CategoryMapper") { (node) throws(FormatError) in
    let strings = Column.strings(node.strings("cats_strings"))
    let integers = Column.integers(node.integers("cats_int64s"))
    guard strings.count == integers.count else { throw node.malformed("expected as many strings as integers") }
    let toIntegers = node.isHostValue(0)
    let attributes = node.node.attributes
    let otherwise: Column =
      toIntegers
      ? .integers([Int64(node.integer("default_int64", default: -1))])
      : .strings([node.text("default_string", default: "_Unused")])
    let (keys, values) = toIntegers ? (strings, integers) : (integers, strings)
    let step = ValueMap(keys, to: values, otherwise: otherwise, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: !toIntegers)]
  }
}

extension ONNXHostNode {
  /// Returns the column in `keys_strings`, `keys_int64s`, `keys_floats` or `keys_tensor` (and likewise for other
  /// names); nil if the node has none.
  fileprivate func column(_ name: String) throws(FormatError) -> Column? {
    if let tensor = node.attributes["\(name)_tensor"]?.tensor { return try tensor.column(self) }
    if !strings("\(name)_strings").isEmpty { return .strings(strings("\(name)_strings")) }
    if !integers("\(name)_int64s").isEmpty { return .integers(integers("\(name)_int64s")) }
    guard let floats = node.attributes["\(name)_floats"]?.floats, !floats.isEmpty else { return nil }
    return .floats(floats)
  }
}

extension ONNXTensor {
  fileprivate func column(_ node: ONNXHostNode) throws(FormatError) -> Column {
    if let strings = try strings() { return .strings(strings.strings) }
    let tensor = try read(node.files)
    return tensor.type.scalar.isFloatingPoint ? .floats(tensor.floats) : .integers(tensor.words)
  }
}

extension Column {
  fileprivate func isAlike(_ other: Column) -> Bool {
    switch (self, other) {
    case (.strings, .strings), (.integers, .integers), (.floats, .floats): true
    default: false
    }
  }
}
