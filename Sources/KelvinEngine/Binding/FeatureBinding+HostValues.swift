import KelvinFeatures
import KelvinGraph

extension FeatureBinding {
  /// An input as host steps read it: numbers are tensors `[1]`, a text is `[1]` too.
  ///
  /// - Throws: `featureType` naming the feature: missing, or what was expected and what was given.
  func hostValue(_ name: String, _ values: DictionaryFeatureProvider) throws(ModelError) -> HostValue {
    guard let feature = function.inputs.first(where: { $0.name == name }) else {
      throw ModelError(.generic, "the slot '\(name)' is none of the model's features")
    }
    guard let value = values[name], !value.isUndefined else {
      if let number = feature.defaultValue { return .tensor(Tensor(TensorType(.float64, [1]), rounding: [number])) }
      guard feature.isOptional else { throw missing(feature) }
      return .absent
    }
    switch (value.storage, feature.type) {
    case (.string(let text), .string): return .texts(TextTensor([text], [1]))
    case (.int64(let number), .int64): return .tensor(Tensor([number], [1]))
    case (.int64(let number), .double): return .tensor(Tensor(TensorType(.float64, [1]), rounding: [Double(number)]))
    case (.double(let number), .double): return .tensor(Tensor(TensorType(.float64, [1]), rounding: [number]))
    case (.multiArray(let array), .tensor(let scalar, let dimensions)):
      try check(Shape(array.shape), of: feature, dimensions)
      return .tensor(array.tensor.converted(to: scalar))
    case (.dictionary(let entries), .dictionary(let keys)): return .dictionary(try dictionary(entries, keys, feature))
    case (.sequence(let sequence), .sequence(.string)) where sequence.type == .string:
      return .texts(TextTensor(sequence.stringValues, [sequence.count]))
    case (.sequence(let sequence), .texts(let dimensions)) where sequence.type == .string:
      return .texts(try texts(sequence, dimensions, feature))
    case (.sequence(let sequence), .sequence(.int64)) where sequence.type == .int64:
      return .tensor(Tensor(sequence.int64Values, [sequence.count]))
    case (.sequence(let sequence), .tensors(let scalar)) where sequence.type == .multiArray || sequence.count == 0:
      return .sequence(sequence.multiArrayValues.map { .tensor($0.tensor.converted(to: scalar)) })
    default:
      throw mismatch(feature, "expected \(FeatureDescription(feature).type.rawValue), got \(value.type.rawValue)")
    }
  }

  /// Texts in their shape; those in a row in the feature's, of which at most one size follows from how many there are.
  private func texts(
    _ sequence: FeatureSequence, _ dimensions: [Dimension], _ feature: Feature
  ) throws(ModelError) -> TextTensor {
    let texts = sequence.stringValues
    if sequence.shape.count == dimensions.count {
      try check(Shape(sequence.shape), of: feature, dimensions)
      return TextTensor(texts, Shape(sequence.shape))
    }
    guard sequence.shape.count == 1 else {
      let expected = dimensions.map(\.description).joined(separator: " x ")
      throw mismatch(feature, "expected texts [\(expected)], got [\(Shape(sequence.shape))]")
    }
    var sizes = dimensions.map { if case .fixed(let size) = $0 { size } else { 1 } }
    if let free = dimensions.firstIndex(where: \.isFlexible), Shape(sizes).isAddressable, Shape(sizes).count > 0 {
      sizes[free] = texts.count / Shape(sizes).count
    }
    guard Shape(sizes).isAddressable, Shape(sizes).count == texts.count,
      zip(dimensions, sizes).allSatisfy({ $0.accepts($1) })
    else {
      let expected = dimensions.map(\.description).joined(separator: " x ")
      throw mismatch(feature, "expected texts [\(expected)] in a row, got \(texts.count)")
    }
    return TextTensor(texts, Shape(sizes))
  }

  private func dictionary(
    _ entries: [ClassLabel: Double], _ keys: FeatureKind.KeyType, _ feature: Feature
  ) throws(ModelError) -> HostDictionary {
    var (texts, integers): ([String], [Int64]) = ([], [])
    var numbers: [Double] = []
    for (key, number) in entries {
      switch key {
      case .string(let text): texts.append(text)
      case .int64(let integer): integers.append(integer)
      }
      numbers.append(number)
    }
    let (own, others) = keys == .string ? (texts.count, integers.count) : (integers.count, texts.count)
    guard others == 0, own == numbers.count else {
      let wanted = keys == .string ? "texts" : "whole numbers"
      throw mismatch(feature, "expected a dictionary whose keys are \(wanted), \(others) of its keys are not")
    }
    return HostDictionary(keys == .string ? .strings(texts) : .integers(integers), numbers)
  }

  /// What a host step computed, as the output feature that it is; nil where there is no value.
  ///
  /// - Throws: `featureType` where it is of another kind than the feature.
  func value(_ computed: HostValue, _ feature: Feature) throws(ModelError) -> FeatureValue? {
    switch (computed, feature.type) {
    case (.absent, _): return nil
    case (.tensor(let tensor), _): return try value(tensor, feature)
    case (.texts(let texts), .string) where texts.texts.count == 1: return FeatureValue(string: texts.texts[0])
    case (.texts(let texts), .sequence(.string)): return FeatureValue(sequence: FeatureSequence(strings: texts.texts))
    case (.texts(let texts), .texts):
      return FeatureValue(sequence: FeatureSequence(strings: texts.texts, shape: texts.shape.dimensions))
    case (.dictionary(let dictionary), .dictionary): return FeatureValue(dictionary: dictionary.entries)
    case (.sequence(let rows), .dictionaries):
      let dictionaries = rows.compactMap { if case .dictionary(let row) = $0 { row.entries } else { nil } }
      guard dictionaries.count == rows.count else { break }
      return FeatureValue(sequence: FeatureSequence(dictionaries: dictionaries))
    case (.sequence(let elements), .tensors(let scalar)):
      let arrays = elements.compactMap {
        if case .tensor(let tensor) = $0 { MultiArray(tensor.converted(to: scalar)) } else { nil }
      }
      guard arrays.count == elements.count else { break }
      return FeatureValue(sequence: FeatureSequence(multiArrays: arrays))
    default: break
    }
    throw ModelError(
      .featureType,
      "output '\(feature.name)': expected \(FeatureDescription(feature).type.rawValue), the model computes "
        + "\(computed.type)")
  }
}

extension HostDictionary {
  fileprivate var entries: [ClassLabel: Double] { Dictionary(zip(keys.labels, values)) { first, _ in first } }
}
