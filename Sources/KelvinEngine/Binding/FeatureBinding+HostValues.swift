import KelvinFeatures
import KelvinGraph

extension FeatureBinding {
  /// Returns an input as host operations read it: a number is a tensor `[1]`, a string a string tensor `[1]`, an image a
  /// tensor as graphs read it.
  ///
  /// - Throws: `featureType` naming the feature, if it is missing or does not fit, with the expected and given types.
  func hostValue(_ name: String, _ values: DictionaryFeatureProvider) throws(ModelError) -> HostValue {
    guard let feature = function.inputs.first(where: { $0.name == name }) else {
      throw ModelError(.generic, "the slot '\(name)' is not a feature of the model")
    }
    guard let value = values[name], !value.isUndefined else {
      if let number = feature.defaultValue { return .tensor(Tensor(TensorType(.float64, [1]), rounding: [number])) }
      guard feature.isOptional else { throw missing(feature) }
      return .absent
    }
    switch (value.storage, feature.type) {
    case (.string(let string), .string): return .strings(StringTensor([string], [1]))
    case (.int64(let number), .int64): return .tensor(Tensor([number], [1]))
    case (.int64(let number), .double): return .tensor(Tensor(TensorType(.float64, [1]), rounding: [Double(number)]))
    case (.double(let number), .double): return .tensor(Tensor(TensorType(.float64, [1]), rounding: [number]))
    case (.multiArray(let array), .tensor(let scalar, let dimensions)):
      try check(Shape(array.shape), of: feature, dimensions)
      return .tensor(array.tensor.converted(to: scalar))
    case (.image, .image(let image)):
      let type = TensorType(image.scalar, try shapes(values)[name] ?? image.tensorShape)
      return .tensor(
        Tensor(
          type,
          try Bytes(count: type.byteCount) { (memory) throws(ModelError) in
            try write(value, feature, type, to: memory)
          }))
    case (.dictionary(let entries), .dictionary(let keys)): return .dictionary(try dictionary(entries, keys, feature))
    case (.sequence(let sequence), .sequence(.string)) where sequence.type == .string:
      return .strings(StringTensor(sequence.stringValues, [sequence.count]))
    case (.sequence(let sequence), .strings(let dimensions)) where sequence.type == .string:
      return .strings(try strings(sequence, dimensions, feature))
    case (.sequence(let sequence), .sequence(.int64)) where sequence.type == .int64:
      return .tensor(Tensor(sequence.int64Values, [sequence.count]))
    case (.sequence(let sequence), .tensors(let scalar)) where sequence.type == .multiArray || sequence.count == 0:
      return .sequence(sequence.multiArrayValues.map { .tensor($0.tensor.converted(to: scalar)) })
    default:
      throw mismatch(feature, "expected \(FeatureDescription(feature).type.rawValue), got \(value.type.rawValue)")
    }
  }

  /// Returns strings in their shape. A flat sequence takes the feature's shape, in which one flexible size may follow
  /// from the number of strings.
  private func strings(
    _ sequence: FeatureSequence, _ dimensions: [Dimension], _ feature: Feature
  ) throws(ModelError) -> StringTensor {
    let strings = sequence.stringValues
    if sequence.shape.count == dimensions.count {
      try check(Shape(sequence.shape), of: feature, dimensions)
      return StringTensor(strings, Shape(sequence.shape))
    }
    guard sequence.shape.count == 1 else {
      let expected = dimensions.map(\.description).joined(separator: " x ")
      throw mismatch(feature, "expected strings [\(expected)], got [\(Shape(sequence.shape))]")
    }
    var sizes = dimensions.map { if case .fixed(let size) = $0 { size } else { 1 } }
    if let free = dimensions.firstIndex(where: \.isFlexible), Shape(sizes).isAddressable, Shape(sizes).count > 0 {
      sizes[free] = strings.count / Shape(sizes).count
    }
    guard Shape(sizes).isAddressable, Shape(sizes).count == strings.count,
      zip(dimensions, sizes).allSatisfy({ $0.accepts($1) })
    else {
      let expected = dimensions.map(\.description).joined(separator: " x ")
      throw mismatch(feature, "expected a sequence of \(expected) strings, got \(strings.count)")
    }
    return StringTensor(strings, Shape(sizes))
  }

  private func dictionary(
    _ entries: [ClassLabel: Double], _ keys: FeatureKind.KeyType, _ feature: Feature
  ) throws(ModelError) -> HostDictionary {
    var (strings, integers): ([String], [Int64]) = ([], [])
    var numbers: [Double] = []
    for (key, number) in entries {
      switch key {
      case .string(let string): strings.append(string)
      case .int64(let integer): integers.append(integer)
      }
      numbers.append(number)
    }
    let (own, others) = keys == .string ? (strings.count, integers.count) : (integers.count, strings.count)
    guard others == 0, own == numbers.count else {
      let wanted = keys == .string ? "strings" : "whole numbers"
      throw mismatch(feature, "expected a dictionary whose keys are \(wanted), \(others) of its keys are not")
    }
    return HostDictionary(keys == .string ? .strings(strings) : .integers(integers), numbers)
  }

  /// Converts a result of a host operation to the output feature; nil if there is no value.
  ///
  /// - Throws: `featureType` if its kind does not match the feature.
  func value(_ computed: HostValue, _ feature: Feature) throws(ModelError) -> FeatureValue? {
    switch (computed, feature.type) {
    case (.absent, _): return nil
    case (.tensor(let tensor), _): return try value(tensor, feature)
    case (.strings(let strings), .string) where strings.strings.count == 1:
      return FeatureValue(string: strings.strings[0])
    case (.strings(let strings), .sequence(.string)):
      return FeatureValue(sequence: FeatureSequence(strings: strings.strings))
    case (.strings(let strings), .strings):
      return FeatureValue(sequence: FeatureSequence(strings: strings.strings, shape: strings.shape.dimensions))
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
