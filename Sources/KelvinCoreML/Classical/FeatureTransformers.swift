import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Readers of Core ML's small models that prepare numeric features for other models.
extension HostStage {
  /// Reads a model that joins features in the order of its list.
  static func featureVectorizer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Column = ClassicalSchema.FeatureVectorizer.InputColumn
    var ordered: [Feature] = []
    var total = 0
    for column in try LayerParameters(message).messages(ClassicalSchema.FeatureVectorizer.inputList) {
      let name = try column.text(Column.inputColumn)
      guard let feature = inputs.first(where: { $0.name == name }) else {
        throw FormatError(.malformed, file: message.file, place: "featureVectorizer", "it has no input '\(name)'")
      }
      ordered.append(feature)
      let size = try column.integer(Column.inputDimensions, default: 1)
      guard (1...1 << 32).contains(size) else {
        throw FormatError(
          .malformed, file: message.file, place: "featureVectorizer", offset: column.message.offset,
          "input '\(name)' has \(size) numbers")
      }
      total += size
    }
    return try HostStage("featureVectorizer", Joining(width: total), ordered, outputs, file: message.file)
  }

  static func identity(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    let (input, output) = try ends("identity", message, inputs, outputs)
    return HostStage(
      kind: "identity", inputs: inputs, outputs: outputs, steps: [ValuePass(input: input, output: output)])
  }

  static func arrayFeatureExtractor(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    let places = try LayerParameters(message).integers(
      ClassicalSchema.ArrayFeatureExtractor.extractIndex, limit: 1 << 16)
    guard !places.isEmpty, places.allSatisfy({ (0..<1 << 32).contains($0) }) else {
      throw malformed(
        "arrayFeatureExtractor", message, "it takes the elements \(places.prefix(8))")
    }
    return try HostStage("arrayFeatureExtractor", ElementChoice(places), inputs, outputs, file: message.file)
  }

  static func scaler(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    let parameters = LayerParameters(message)
    let shift = try parameters.doubles(ClassicalSchema.Scaler.shiftValue)
    let scale = try parameters.doubles(ClassicalSchema.Scaler.scaleValue)
    guard shift.count <= 1 || scale.count <= 1 || shift.count == scale.count else {
      throw malformed(
        "scaler", message, "\(shift.count) numbers to add and \(scale.count) to multiply by")
    }
    let function = Scaling(shift: shift.isEmpty ? [0] : shift, scale: scale.isEmpty ? [1] : scale)
    return try HostStage("scaler", function, inputs, outputs, file: message.file)
  }

  static func imputer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.Imputer
    let parameters = LayerParameters(message)
    var imputed: [Double] = []
    switch try parameters.choice(among: Set(1...7)) {
    case Fields.imputedDoubleValue: imputed = [try parameters.double(Fields.imputedDoubleValue) ?? 0]
    case Fields.imputedInt64Value: imputed = [Double(try parameters.integer(Fields.imputedInt64Value) ?? 0)]
    case Fields.imputedDoubleArray:
      imputed = try parameters.message(Fields.imputedDoubleArray)?.doubles(1) ?? []
    case Fields.imputedInt64Array:
      imputed = try parameters.message(Fields.imputedInt64Array)?.integers(1, limit: 1 << 16).map(Double.init) ?? []
    default: throw unknown("an imputer of strings or dictionaries", message)
    }
    var replaced = Double.nan
    let replacements: Set<Int> = [Fields.replaceDoubleValue, Fields.replaceInt64Value, Fields.replaceStringValue]
    switch try parameters.choice(among: replacements) {
    case Fields.replaceDoubleValue: replaced = try parameters.double(Fields.replaceDoubleValue) ?? 0
    case Fields.replaceInt64Value: replaced = Double(try parameters.integer(Fields.replaceInt64Value) ?? 0)
    case Fields.replaceStringValue: throw unknown("an imputer of strings", message)
    default: break
    }
    let function = Imputation(of: replaced, by: imputed.isEmpty ? [0] : imputed)
    return try HostStage("imputer", function, inputs, outputs, file: message.file)
  }

  static func normalizer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.Normalizer.NormType
    let norm: Normalization.Norm
    switch try LayerParameters(message).integer(ClassicalSchema.Normalizer.normType) ?? 0 {
    case Fields.lmax: norm = .largestMagnitude
    case Fields.l1: norm = .magnitudes
    case Fields.l2: norm = .length
    case let other: throw unknown("norm \(other)", message)
    }
    return try HostStage("normalizer", Normalization(norm), inputs, outputs, file: message.file)
  }
}
