import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Readers of Core ML's small models that prepare numeric features for other models.
extension ClassicalModel {
  /// Reads a model that joins features in the order of its list.
  func featureVectorizer() throws(FormatError) -> HostStage {
    typealias Column = ClassicalSchema.FeatureVectorizer.InputColumn
    var ordered: [Feature] = []
    var total = 0
    for column in try parameters.messages(ClassicalSchema.FeatureVectorizer.inputList) {
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
    return try stage(Joining(width: total), of: ordered)
  }

  func identity() throws(FormatError) -> HostStage {
    let (input, output) = try ends()
    return stage(step: ValuePass(input: input, output: output))
  }

  func arrayFeatureExtractor() throws(FormatError) -> HostStage {
    let places = try parameters.integers(ClassicalSchema.ArrayFeatureExtractor.extractIndex, limit: 1 << 16)
    guard !places.isEmpty, places.allSatisfy({ (0..<1 << 32).contains($0) }) else {
      throw malformed("it takes the elements \(places.prefix(8))")
    }
    return try stage(ElementChoice(places))
  }

  func scaler() throws(FormatError) -> HostStage {
    let shift = try parameters.doubles(ClassicalSchema.Scaler.shiftValue)
    let scale = try parameters.doubles(ClassicalSchema.Scaler.scaleValue)
    guard shift.count <= 1 || scale.count <= 1 || shift.count == scale.count else {
      throw malformed("\(shift.count) numbers to add and \(scale.count) to multiply by")
    }
    let function = Scaling(shift: shift.isEmpty ? [0] : shift, scale: scale.isEmpty ? [1] : scale)
    return try stage(function)
  }

  func imputer() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.Imputer
    var imputed: [Double] = []
    switch try parameters.choice(among: Set(1...7)) {
    case Fields.imputedDoubleValue: imputed = [try parameters.double(Fields.imputedDoubleValue) ?? 0]
    case Fields.imputedInt64Value: imputed = [Double(try parameters.integer(Fields.imputedInt64Value) ?? 0)]
    case Fields.imputedDoubleArray:
      imputed = try parameters.message(Fields.imputedDoubleArray)?.doubles(1) ?? []
    case Fields.imputedInt64Array:
      imputed = try parameters.message(Fields.imputedInt64Array)?.integers(1, limit: 1 << 16).map(Double.init) ?? []
    default: throw message.unknown("an imputer of strings or dictionaries")
    }
    var replaced = Double.nan
    let replacements: Set<Int> = [Fields.replaceDoubleValue, Fields.replaceInt64Value, Fields.replaceStringValue]
    switch try parameters.choice(among: replacements) {
    case Fields.replaceDoubleValue: replaced = try parameters.double(Fields.replaceDoubleValue) ?? 0
    case Fields.replaceInt64Value: replaced = Double(try parameters.integer(Fields.replaceInt64Value) ?? 0)
    case Fields.replaceStringValue: throw message.unknown("an imputer of strings")
    default: break
    }
    let function = Imputation(of: replaced, by: imputed.isEmpty ? [0] : imputed)
    return try stage(function)
  }

  func normalizer() throws(FormatError) -> HostStage {
    typealias Fields = ClassicalSchema.Normalizer.NormType
    let norm: Normalization.Norm
    switch try parameters.integer(ClassicalSchema.Normalizer.normType) ?? 0 {
    case Fields.lmax: norm = .largestMagnitude
    case Fields.l1: norm = .magnitudes
    case Fields.l2: norm = .length
    case let other: throw message.unknown("norm \(other)")
    }
    return try stage(Normalization(norm))
  }
}
