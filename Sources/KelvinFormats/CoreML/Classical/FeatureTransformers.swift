import KelvinGraph

/// Core ML's small models that prepare numbers for other models.
extension VectorStage {
  /// Joins features in the order of the model's list.
  static func featureVectorizer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    typealias Column = ClassicalSchema.FeatureVectorizer.InputColumn
    var ordered: [Feature] = []
    var sizes: [Int] = []
    for column in try LayerParameters(message).messages(ClassicalSchema.FeatureVectorizer.inputList) {
      let name = try column.text(Column.inputColumn)
      guard let feature = inputs.first(where: { $0.name == name }) else {
        throw FormatError(.malformed, file: message.file, place: "featureVectorizer", "it has no input '\(name)'")
      }
      ordered.append(feature)
      sizes.append(try column.integer(Column.inputDimensions, default: 1))
    }
    return VectorStage("featureVectorizer", ordered, outputs) { [sizes] emitter, x in
      let total = sizes.reduce(0) { $0 &+ $1 }
      guard emitter.shape(x).count == total else {
        throw emitter.invalid("joins \(total) numbers, its inputs have \(emitter.shape(x).count)")
      }
      return x
    }
  }

  static func identity(_ inputs: [Feature], _ outputs: [Feature]) -> VectorStage {
    VectorStage("identity", inputs, outputs) { _, x in x }
  }

  static func arrayFeatureExtractor(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    let indices = try LayerParameters(message).integers(
      ClassicalSchema.ArrayFeatureExtractor.extractIndex, limit: 1 << 16)
    return VectorStage("arrayFeatureExtractor", inputs, outputs) { emitter, x in
      let count = emitter.shape(x).count
      guard !indices.isEmpty, indices.allSatisfy({ (0..<count).contains($0) }) else {
        throw emitter.invalid("takes elements \(indices.prefix(8)) of \(count)")
      }
      let places = emitter.constant(
        Weight(Tensor(TensorType(.int32, [indices.count]), rounding: indices.map(Double.init))), step: "indices")
      return try emitter.add(Gather(axis: 0), x, places)
    }
  }

  /// `(x + shift) · scale`, each one number or one for each element.
  static func scaler(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    let parameters = LayerParameters(message)
    let shift = try parameters.doubles(ClassicalSchema.Scaler.shiftValue)
    let scale = try parameters.doubles(ClassicalSchema.Scaler.scaleValue)
    return VectorStage("scaler", inputs, outputs) { emitter, x in
      let addend = try constant(shift, otherwise: 0, of: x, "shift", emitter)
      let factor = try constant(scale, otherwise: 1, of: x, "scale", emitter)
      let shifted = try emitter.binary(.add, x, addend, step: "shifted")
      return try emitter.binary(.multiply, shifted, factor)
    }
  }

  /// Puts other numbers in the place of one, which may be not-a-number.
  static func imputer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
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
    default: throw unknown("an imputer of text or dictionaries", message)
    }
    var replaced = Double.nan
    let replacements: Set<Int> = [Fields.replaceDoubleValue, Fields.replaceInt64Value, Fields.replaceStringValue]
    switch try parameters.choice(among: replacements) {
    case Fields.replaceDoubleValue: replaced = try parameters.double(Fields.replaceDoubleValue) ?? 0
    case Fields.replaceInt64Value: replaced = Double(try parameters.integer(Fields.replaceInt64Value) ?? 0)
    case Fields.replaceStringValue: throw unknown("an imputer of text", message)
    default: break
    }
    return VectorStage("imputer", inputs, outputs) { [imputed, replaced] emitter, x in
      let values = try constant(imputed, otherwise: 0, of: x, "imputed", emitter)
      let isMissing: ValueID
      if replaced.isNaN {
        isMissing = try emitter.add(Compare(.notEqual), x, x, step: "is_missing")
      } else {
        let number = emitter.constant(replaced, .float32, step: "replaced")
        isMissing = try emitter.add(Compare(.equal), x, number, step: "is_missing")
      }
      return try emitter.add(Select(), isMissing, values, x)
    }
  }

  /// Divides by the largest magnitude, the sum of magnitudes or the length; a vector of zeros stays.
  static func normalizer(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    typealias Norm = ClassicalSchema.Normalizer.NormType
    let norm = try LayerParameters(message).integer(ClassicalSchema.Normalizer.normType) ?? 0
    guard [Norm.lmax, Norm.l1, Norm.l2].contains(norm) else { throw unknown("norm \(norm)", message) }
    return VectorStage("normalizer", inputs, outputs) { emitter, x in
      let function: Reduce.Function = norm == Norm.l1 ? .l1 : norm == Norm.l2 ? .l2 : .maximum
      let magnitudes = norm == Norm.lmax ? try emitter.unary(UnaryFunction(.abs), x, step: "magnitudes") : x
      let size = try emitter.add(Reduce(function, axes: [0], keepsDimensions: true), magnitudes, step: "size")
      let zero = emitter.constant(0, .float32, step: "zero")
      let isZero = try emitter.add(Compare(.equal), size, zero, step: "is_zero")
      let one = emitter.constant(1, .float32, step: "one")
      let divisor = try emitter.add(Select(), isZero, one, size, step: "divisor")
      return try emitter.binary(.divide, x, divisor)
    }
  }

  /// A vector with 1 at the place of the number's category, and 0 elsewhere; all 0 for a number of no category.
  static func oneHotEncoder(
    _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> VectorStage {
    typealias Fields = ClassicalSchema.OneHotEncoder
    let parameters = LayerParameters(message)
    guard let categories = try parameters.message(Fields.int64Categories)?.integers(1, limit: 1 << 16),
      try !parameters.flag(Fields.outputSparse)
    else { throw unknown("a oneHotEncoder of text or with a dictionary as output", message) }
    return VectorStage("oneHotEncoder", inputs, outputs) { emitter, x in
      guard emitter.shape(x).count == 1 else { throw emitter.invalid("takes one number, got \(emitter.type(x))") }
      let list = try constant(categories.map(Double.init), otherwise: 0, of: nil, "categories", emitter)
      let hits = try emitter.add(Compare(.equal), x, list, step: "hits")
      return try emitter.cast(hits, to: .float32)
    }
  }

  private static func constant(
    _ values: [Double], otherwise value: Double, of x: ValueID?, _ step: String, _ emitter: Emitter
  ) throws -> ValueID {
    let list = values.isEmpty ? [value] : values
    if let x, list.count != 1, list.count != emitter.shape(x).count {
      throw emitter.invalid("\(step): \(list.count) numbers for \(emitter.shape(x).count) elements")
    }
    return emitter.constant(
      Weight(Tensor(TensorType(.float32, [list.count]), rounding: list)), step: step)
  }
}
