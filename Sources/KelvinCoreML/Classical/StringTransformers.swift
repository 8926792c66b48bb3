import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Readers of Core ML's small models that turn strings and dictionaries into numbers, or back.
extension HostStage {
  /// Reads a model that turns a dictionary into an array in the order of a list of keys.
  static func dictVectorizer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.DictVectorizer
    let (input, output) = try ends("dictVectorizer", message, inputs, outputs)
    let parameters = LayerParameters(message)
    guard let words = try Labels(parameters, strings: Fields.stringToIndex, integers: Fields.int64ToIndex),
      words.count > 0
    else { throw unknown("a dictVectorizer without keys", message) }
    let type = TensorType(.float64, [words.count])
    return HostStage(
      kind: "dictVectorizer", inputs: inputs, outputs: outputs,
      steps: [DictionaryVector(words, type, input: input, output: output)])
  }

  /// Reads a model that maps strings to integers, or integers to strings.
  static func categoricalMapping(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.CategoricalMapping
    let (input, output) = try ends("categoricalMapping", message, inputs, outputs)
    let parameters = LayerParameters(message)
    guard let field = try parameters.choice(among: [Fields.stringToInt64Map, Fields.int64ToStringMap]),
      let map = try parameters.message(field)
    else { throw unknown("a categoricalMapping without a table", message) }
    let toIntegers = field == Fields.stringToInt64Map
    var (strings, integers): ([String], [Int64]) = ([], [])
    try map.each(ClassicalSchema.StringToInt64Map.map) { (entry) throws(FormatError) in
      try entry.check(strings.count, WireMessage.operationLimit)
      let pair = LayerParameters(try entry.message())
      let (key, value) = (1, 2)
      strings.append(try pair.string(toIntegers ? key : value))
      integers.append(Int64(try pair.integer(toIntegers ? value : key) ?? 0))
    }
    var otherwise: Column?
    switch try parameters.choice(among: [Fields.strValue, Fields.int64Value]) {
    case Fields.strValue where !toIntegers: otherwise = .strings([try parameters.string(Fields.strValue)])
    case Fields.int64Value where toIntegers:
      otherwise = .integers([Int64(try parameters.integer(Fields.int64Value) ?? 0)])
    default: break
    }
    let (keys, values): (Column, Column) =
      toIntegers ? (.strings(strings), .integers(integers)) : (.integers(integers), .strings(strings))
    return HostStage(
      kind: "categoricalMapping", inputs: inputs, outputs: outputs,
      steps: [ValueMap(keys, to: values, otherwise: otherwise, input: input, output: output)])
  }

  /// Reads a model that turns a string or an integer into a vector with 1 at the index of its category.
  static func oneHotEncoder(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.OneHotEncoder
    let (input, output) = try ends("oneHotEncoder", message, inputs, outputs)
    let parameters = LayerParameters(message)
    guard try !parameters.flag(Fields.outputSparse) else {
      throw unknown("a oneHotEncoder with a dictionary as output", message)
    }
    let categories = try Labels(parameters, strings: Fields.stringCategories, integers: Fields.int64Categories)
    guard let categories, categories.count > 0 else { throw unknown("a oneHotEncoder without categories", message) }
    guard categories.isString == (inputs[0].type == .string) else {
      throw FormatError(
        .malformed, file: message.file, place: "oneHotEncoder", offset: message.offset,
        categories.isString
          ? "its input is not a string, but its categories are strings"
          : "its input is a string, but its categories are whole numbers"
      )
    }
    let ignores = try parameters.integer(Fields.handleUnknown) ?? 0 == Fields.HandleUnknown.ignoreunknown
    return HostStage(
      kind: "oneHotEncoder", inputs: inputs, outputs: outputs,
      steps: [
        OneHotVector(categories.column, ignoresUnknown: ignores, isOne: true, input: input, output: output)
      ])
  }
}
