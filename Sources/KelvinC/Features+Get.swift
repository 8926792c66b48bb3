// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Kelvin
import KelvinBasics
import KelvinImages

@c @implementation
public func kelvin_features_names(
  _ features: OpaquePointer?, _ names: UnsafeMutablePointer<UnsafePointer<UnsafePointer<CChar>?>?>?,
  _ count: UnsafeMutablePointer<Int>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (result, length) = (try place(names, "names"), try place(count, "count"))
    let known = features.names
    result.pointee = try features.withViews { views in
      let texts = try known.map { name in
        try naming(name) {
          Optional(try terminated(name, in: views, remedy: "a C string cannot hold this name: rename it in the model"))
        }
      }
      return UnsafePointer(views.elements(texts))
    }
    length.pointee = known.count
  }
}

@c @implementation
public func kelvin_features_kind(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ kind: UnsafeMutablePointer<kelvin_kind>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let result = try place(kind, "kind")
    result.pointee = kelvin_kind(features.value(try text(name, "name")).map(\.kind) ?? KELVIN_KIND_NONE)
  }
}

extension FeaturesHandle.Value {
  fileprivate var kind: Int {
    guard case .feature(let feature) = self else { return KELVIN_KIND_IMAGE }
    return switch feature.isUndefined ? .state : feature.type {
    case .multiArray: KELVIN_KIND_ARRAY
    case .image: KELVIN_KIND_IMAGE
    case .int64: KELVIN_KIND_INT64
    case .double: KELVIN_KIND_DOUBLE
    case .string: KELVIN_KIND_STRING
    case .dictionary: KELVIN_KIND_DICTIONARY
    case .sequence: KELVIN_KIND_SEQUENCE
    case .state: KELVIN_KIND_NONE
    }
  }
}

@c @implementation
public func kelvin_features_get_array(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafeMutablePointer<kelvin_array>?,
  _ error: ErrorText?
) -> kelvin_code {
  get(features, name, array, "array", error) { features, feature, name in
    guard let value = feature.multiArrayValue else { throw mismatch(name, "an array", feature) }
    return features.withViews { value.view($0) }
  }
}

@c @implementation
public func kelvin_features_get_image(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ image: UnsafeMutablePointer<kelvin_image_buffer>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (result, name) = (try place(image, "image"), try text(name, "name"))
    if case .borrowed(let borrowed, _, _) = features.value(name) {
      result.pointee = borrowed.view
      return
    }
    let feature = try features.feature(name)
    if case .pixelBuffer(let borrowed) = features.backings[name], feature.type == .image {
      result.pointee = borrowed.view
      return
    }
    guard let pixels = feature.imageBufferValue else { throw mismatch(name, "an image", feature) }
    guard pixels.format.isBytes else {
      throw ModelError(
        .featureType, "feature '\(name)' is an image of \(pixels.format); use kelvin_features_get_frame")
    }
    let frame = features.withViews { pixels.view($0) }
    result.pointee = kelvin_image_buffer(
      data: UnsafeMutableRawPointer(mutating: frame.planes.0.data), format: frame.format, width: frame.width,
      height: frame.height, bytes_per_row: frame.planes.0.bytes_per_row)
  }
}

@c @implementation
public func kelvin_features_get_frame(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ frame: UnsafeMutablePointer<kelvin_frame>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (result, name) = (try place(frame, "frame"), try text(name, "name"))
    if case .borrowed(let borrowed, _, _) = features.value(name) {
      result.pointee = try features.withViews { try PixelBuffer(borrowed: borrowed).view($0) }
      return
    }
    let feature = try features.feature(name)
    guard let pixels = feature.imageBufferValue else { throw mismatch(name, "an image", feature) }
    result.pointee = features.withViews { pixels.view($0) }
  }
}

@c @implementation
public func kelvin_features_get_int64(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafeMutablePointer<Int64>?, _ error: ErrorText?
) -> kelvin_code {
  get(features, name, value, "value", error) { _, feature, name in
    guard let value = feature.int64Value else { throw mismatch(name, "a whole number", feature) }
    return value
  }
}

@c @implementation
public func kelvin_features_get_double(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafeMutablePointer<Double>?, _ error: ErrorText?
) -> kelvin_code {
  get(features, name, value, "value", error) { _, feature, name in
    guard let value = feature.doubleValue else { throw mismatch(name, "a number", feature) }
    return value
  }
}

@c @implementation
public func kelvin_features_get_string(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafeMutablePointer<UnsafePointer<CChar>?>?,
  _ error: ErrorText?
) -> kelvin_code {
  get(features, name, value, "value", error) { features, feature, name in
    guard let string = feature.stringValue else { throw mismatch(name, "a string", feature) }
    let remedy = "kelvin_features_get_text returns it with its length"
    return try features.withViews { views in
      try naming(name) { try terminated(string, in: views, remedy: remedy) }
    }
  }
}

@c @implementation
public func kelvin_features_get_text(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ value: UnsafeMutablePointer<kelvin_text>?,
  _ error: ErrorText?
) -> kelvin_code {
  get(features, name, value, "value", error) { features, feature, name in
    guard let string = feature.stringValue else { throw mismatch(name, "a string", feature) }
    return features.withViews { $0.texts([string]).pointee }
  }
}

@c @implementation
public func kelvin_features_get_strings(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ values: UnsafeMutablePointer<UnsafePointer<UnsafePointer<CChar>?>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ shape: UnsafeMutablePointer<UnsafePointer<Int64>?>?, _ rank: UnsafeMutablePointer<Int>?, _ error: ErrorText?
) -> kelvin_code {
  getTexts(features, name, values, count, shape, rank, error) { texts, views in
    let pointers = try texts.map {
      Optional(try terminated($0, in: views, remedy: "kelvin_features_get_texts returns it with its length"))
    }
    return UnsafePointer(views.elements(pointers))
  }
}

@c @implementation
public func kelvin_features_get_texts(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ values: UnsafeMutablePointer<UnsafePointer<kelvin_text>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ shape: UnsafeMutablePointer<UnsafePointer<Int64>?>?, _ rank: UnsafeMutablePointer<Int>?, _ error: ErrorText?
) -> kelvin_code {
  getTexts(features, name, values, count, shape, rank, error) { texts, views in views.texts(texts) }
}

/// - Parameter placed: copies the strings to memory that C reads.
private func getTexts<Text>(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ values: UnsafeMutablePointer<UnsafePointer<Text>?>?,
  _ count: UnsafeMutablePointer<Int>?, _ shape: UnsafeMutablePointer<UnsafePointer<Int64>?>?,
  _ rank: UnsafeMutablePointer<Int>?, _ error: ErrorText?,
  _ placed: (_ texts: [String], _ views: CMemory) throws -> UnsafePointer<Text>
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (texts, length) = (try place(values, "values"), try place(count, "count"))
    let (sizes, axes) = (try place(shape, "shape"), try place(rank, "rank"))
    let name = try text(name, "name")
    let feature = try features.feature(name)
    guard let sequence = feature.sequenceValue, sequence.type == .string else {
      throw mismatch(name, "strings", feature)
    }
    try features.withViews { views in
      texts.pointee = try naming(name) { try placed(sequence.stringValues, views) }
      sizes.pointee = UnsafePointer(views.elements(sequence.shape.map(Int64.init)))
    }
    length.pointee = sequence.count
    axes.pointee = sequence.shape.count
  }
}

@c @implementation
public func kelvin_features_get_dictionary(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ keys: UnsafeMutablePointer<UnsafePointer<UnsafePointer<CChar>?>?>?,
  _ values: UnsafeMutablePointer<UnsafePointer<Double>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ is_numbered: UnsafeMutablePointer<Bool>?, _ error: ErrorText?
) -> kelvin_code {
  getDictionary(features, name, keys, values, count, is_numbered, error) { texts, views in
    let pointers = try texts.map {
      Optional(try terminated($0, in: views, remedy: "kelvin_features_get_text_dictionary returns it with its length"))
    }
    return UnsafePointer(views.elements(pointers))
  }
}

@c @implementation
public func kelvin_features_get_text_dictionary(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ keys: UnsafeMutablePointer<UnsafePointer<kelvin_text>?>?,
  _ values: UnsafeMutablePointer<UnsafePointer<Double>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ is_numbered: UnsafeMutablePointer<Bool>?, _ error: ErrorText?
) -> kelvin_code {
  getDictionary(features, name, keys, values, count, is_numbered, error) { texts, views in views.texts(texts) }
}

/// - Parameter placed: copies the keys to memory that C reads.
private func getDictionary<Text>(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ keys: UnsafeMutablePointer<UnsafePointer<Text>?>?,
  _ values: UnsafeMutablePointer<UnsafePointer<Double>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ isNumbered: UnsafeMutablePointer<Bool>?, _ error: ErrorText?,
  _ placed: (_ texts: [String], _ views: CMemory) throws -> UnsafePointer<Text>
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (labels, numbers) = (try place(keys, "keys"), try place(values, "values"))
    let (length, numbered) = (try place(count, "count"), try place(isNumbered, "is_numbered"))
    let name = try text(name, "name")
    let feature = try features.feature(name)
    guard let dictionary = feature.dictionaryValue else { throw mismatch(name, "a dictionary", feature) }
    let entries = dictionary.sorted { first, second in
      first.value == second.value
        ? first.key.description < second.key.description : first.value > second.value
    }
    try features.withViews { views in
      labels.pointee = try naming(name) { try placed(entries.map(\.key.description), views) }
      numbers.pointee = UnsafePointer(views.elements(entries.map(\.value)))
    }
    length.pointee = entries.count
    numbered.pointee = if case .int64 = entries.first?.key { true } else { false }
  }
}

@c @implementation
public func kelvin_features_get_arrays(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ arrays: UnsafeMutablePointer<UnsafePointer<kelvin_array>?>?, _ count: UnsafeMutablePointer<Int>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (result, length) = (try place(arrays, "arrays"), try place(count, "count"))
    let name = try text(name, "name")
    let feature = try features.feature(name)
    guard let sequence = feature.sequenceValue, sequence.type == .multiArray else {
      throw mismatch(name, "a sequence of arrays", feature)
    }
    let values = sequence.multiArrayValues
    features.withViews { views in
      result.pointee = UnsafePointer(views.elements(values.map { $0.view(views) }))
    }
    length.pointee = values.count
  }
}

@c @implementation
public func kelvin_features_get_json(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?,
  _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  get(features, name, json, "json", error) { _, feature, name in
    guard let value = ValueDocument(feature) else {
      throw mismatch(name, "a number, string, dictionary or sequence of these", feature)
    }
    return allocated(String(decoding: try JSONText.encode(value, unspeakable: .text), as: UTF8.self))
  }
}

private func get<Value>(
  _ features: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ result: UnsafeMutablePointer<Value>?, _ noun: String,
  _ error: ErrorText?, _ value: (FeaturesHandle, FeatureValue, _ name: String) throws -> Value
) -> kelvin_code {
  answer(error) {
    let features = try Handles.find(features, as: FeaturesHandle.self)
    let (result, name) = (try place(result, noun), try text(name, "name"))
    result.pointee = try value(features, try features.feature(name), name)
  }
}

func mismatch(_ name: String, _ expected: String, _ feature: FeatureValue) -> ModelError {
  ModelError(.featureType, "feature '\(name)': expected \(expected), got \(feature.type.rawValue)")
}

/// A value that can be encoded as JSON.
private enum ValueDocument: Encodable {
  case int64(Int64)
  case double(Double)
  case string(String)
  case dictionary([ClassLabel: Double])
  case sequence(FeatureSequence)

  init?(_ feature: FeatureValue) {
    switch feature.storage {
    case .int64(let value): self = .int64(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .string(value)
    case .dictionary(let value): self = .dictionary(value)
    case .sequence(let sequence):
      guard sequence.type != .multiArray else { return nil }
      self = .sequence(sequence)
    default: return nil
    }
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .int64(let value): try container.encode(value)
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .dictionary(let value): try container.encode(value.named)
    case .sequence(let value):
      switch value.type {
      case .string: try container.encode(StringArrayDocument(value))
      case .int64: try container.encode(value.int64Values)
      default: try container.encode(value.dictionaryValues.map(\.named))
      }
    }
  }
}

extension [ClassLabel: Double] {
  fileprivate var named: [String: Double] {
    [String: Double](map { ($0.description, $1) }) { first, _ in first }
  }
}
