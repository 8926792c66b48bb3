import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Readers of Core ML's small models that turn strings and dictionaries into numbers, or back.
extension ClassicalModel {
  /// Reads a model that turns a dictionary into an array in the order of a list of keys.
  func dictVectorizer() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.DictVectorizer
    let (input, output) = try ends()
    guard let words = try Labels(parameters, strings: Fields.stringToIndex, integers: Fields.int64ToIndex),
      words.count > 0
    else { throw message.unknown("a dictVectorizer without keys") }
    let type = TensorType(.float64, [words.count])
    return stage(step: DictionaryVector(words, type, input: input, output: output))
  }

  /// Reads a model that maps strings to integers, or integers to strings.
  func categoricalMapping() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.CategoricalMapping
    let (input, output) = try ends()
    guard let field = try parameters.choice(among: [Fields.stringToInt64Map, Fields.int64ToStringMap]),
      let map = try parameters.message(field)
    else { throw message.unknown("a categoricalMapping without a table") }
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
    return stage(step: ValueMap(keys, to: values, otherwise: otherwise, input: input, output: output))
  }

  /// Reads a model that turns a string or an integer into a vector with 1 at the index of its category.
  func oneHotEncoder() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.OneHotEncoder
    let (input, output) = try ends()
    guard try !parameters.flag(Fields.outputSparse) else {
      throw message.unknown("a oneHotEncoder with a dictionary as output")
    }
    let categories = try Labels(parameters, strings: Fields.stringCategories, integers: Fields.int64Categories)
    guard let categories, categories.count > 0 else { throw message.unknown("a oneHotEncoder without categories") }
    guard categories.isString == (inputs[0].type == .string) else {
      throw FormatError(
        .malformed, file: message.file, place: "oneHotEncoder", offset: message.offset,
        categories.isString
          ? "its input is not a string, but its categories are strings"
          : "its input is a string, but its categories are whole numbers"
      )
    }
    let ignores = try parameters.integer(Fields.handleUnknown) ?? 0 == Fields.HandleUnknown.ignoreunknown
    return stage(
      step: OneHotVector(categories.column, ignoresUnknown: ignores, isOne: true, input: input, output: output))
  }
}
