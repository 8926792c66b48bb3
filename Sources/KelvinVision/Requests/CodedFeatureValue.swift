import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinFeatures
import KelvinImages

/// A feature value as observations encode it: its type, and the value in a form of that type.
struct CodedFeatureValue: Codable {
  let value: FeatureValue

  private enum CodingKeys: CodingKey { case type, value }

  init(_ value: FeatureValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let type = try values.decodeEnum(FeatureType.self, forKey: .type)
    guard values.contains(.value) else {
      value = FeatureValue(undefined: type)
      return
    }
    switch type {
    case .int64: value = FeatureValue(int64: try values.decode(Int64.self, forKey: .value))
    case .double: value = FeatureValue(double: try values.decode(Double.self, forKey: .value))
    case .string: value = FeatureValue(string: try values.decode(String.self, forKey: .value))
    case .image: value = try values.decode(CodedImageInput.self, forKey: .value).value
    case .multiArray: value = FeatureValue(multiArray: try values.decode(CodedArray.self, forKey: .value).array)
    case .dictionary: value = FeatureValue(dictionary: try values.decode(CodedNumbers.self, forKey: .value).numbers)
    case .sequence: value = FeatureValue(sequence: try values.decode(CodedSequence.self, forKey: .value).sequence)
    case .state:
      throw DecodingError.dataCorruptedError(forKey: .value, in: values, debugDescription: "a state has no value")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(value.type.rawValue, forKey: .type)
    switch value.storage {
    case .int64(let number): try values.encode(number, forKey: .value)
    case .double(let number): try values.encode(number, forKey: .value)
    case .string(let text): try values.encode(text, forKey: .value)
    case .image, .backing: try values.encode(CodedImageInput(value), forKey: .value)
    case .multiArray(let array): try values.encode(CodedArray(array: array), forKey: .value)
    case .dictionary(let numbers): try values.encode(CodedNumbers(numbers: numbers), forKey: .value)
    case .sequence(let sequence): try values.encode(CodedSequence(sequence: sequence), forKey: .value)
    case .undefined: break
    }
  }
}

/// The size, the name of the format, and the rows without gaps.
struct CodedImage: Codable {
  let pixels: PixelBuffer

  private enum CodingKeys: CodingKey { case width, height, format, bytes }

  init(_ pixels: PixelBuffer) { self.pixels = pixels }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let name = try values.decode(String.self, forKey: .format)
    guard let format = PixelFormat.allCases.first(where: { "\($0)" == name }) else {
      throw DecodingError.dataCorruptedError(
        forKey: .format, in: values, debugDescription: "'\(name)' is not a pixel format")
    }
    do {
      pixels = try PixelBuffer(
        width: try values.decode(Int.self, forKey: .width), height: try values.decode(Int.self, forKey: .height),
        format: format, bytes: [UInt8](try values.decode(Data.self, forKey: .bytes)))
    } catch let error as ImageError {
      throw DecodingError.dataCorruptedError(forKey: .bytes, in: values, debugDescription: "\(error)")
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(pixels.width, forKey: .width)
    try values.encode(pixels.height, forKey: .height)
    try values.encode("\(pixels.format)", forKey: .format)
    try values.encode(Data(pixels.bytes), forKey: .bytes)
  }
}

/// An image, and the parameters that fit it to a model's input if it is to be fitted.
private struct CodedImageInput: Codable {
  let value: FeatureValue

  private enum CodingKeys: CodingKey { case image, orientation, cropAndScale, region }

  init(_ value: FeatureValue) { self.value = value }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let pixels = try values.decode(CodedImage.self, forKey: .image).pixels
    guard values.contains(.cropAndScale) else {
      value = FeatureValue(pixelBuffer: pixels)
      return
    }
    let region = try values.decodeIfPresent([Int].self, forKey: .region)
    guard region == nil || region?.count == 4 else {
      throw DecodingError.dataCorruptedError(
        forKey: .region, in: values,
        debugDescription: "expected x, y, width and height, got \(region?.count ?? 0) numbers")
    }
    value = FeatureValue(
      image: pixels, orientation: try values.decodeEnum(ImageOrientation.self, forKey: .orientation),
      cropAndScale: try values.decodeEnum(ImageCropAndScale.self, forKey: .cropAndScale),
      cropRect: region.map { PixelRect(x: $0[0], y: $0[1], width: $0[2], height: $0[3]) })
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encodeIfPresent(value.imageBufferValue.map(CodedImage.init), forKey: .image)
    guard case .image(let input) = value.storage, let cropAndScale = input.cropAndScale else { return }
    try values.encode(input.orientation.rawValue, forKey: .orientation)
    try values.encode(cropAndScale.rawValue, forKey: .cropAndScale)
    try values.encodeIfPresent(input.regionOfInterest.map { [$0.x, $0.y, $0.width, $0.height] }, forKey: .region)
  }
}

/// The element type, the shape, and the elements in row-major order, lowest byte first.
private struct CodedArray: Codable {
  let array: MultiArray

  private enum CodingKeys: CodingKey { case dataType, shape, elements }

  init(array: MultiArray) { self.array = array }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    let type = try values.decodeEnum(MultiArrayDataType.self, forKey: .dataType)
    let shape = try values.decode([Int].self, forKey: .shape)
    let elements = try values.decode(Data.self, forKey: .elements)
    guard let count = FeatureSequence.count(of: shape), count <= elements.count,
      count * type.byteCount == elements.count, type != .bool || elements.allSatisfy({ $0 <= 1 })
    else {
      throw DecodingError.dataCorruptedError(
        forKey: .elements, in: values,
        debugDescription: "\(elements.count) bytes are not \(type.rawValue) elements of the shape \(shape)")
    }
    array = try MultiArray(shape: shape, dataType: type)
    elements.withUnsafeBytes { bytes in
      for (index, byte) in bytes.enumerated() {
        array.dataPointer?.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
      }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(array.dataType.rawValue, forKey: .dataType)
    try values.encode(array.shape, forKey: .shape)
    try values.encode(array.withDenseBytes { Data($0) }, forKey: .elements)
  }
}

/// Pairs of a label and its number, in the order of the labels.
private struct CodedNumbers: Codable {
  let numbers: [ClassLabel: Double]

  private struct Pair: Codable {
    let label: ClassLabel
    let number: Double

    private enum CodingKeys: CodingKey { case string, int64, number }

    init(_ label: ClassLabel, _ number: Double) { (self.label, self.number) = (label, number) }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: CodingKeys.self)
      label =
        if let text = try values.decodeIfPresent(String.self, forKey: .string) {
          .string(text)
        } else {
          .int64(try values.decode(Int64.self, forKey: .int64))
        }
      number = try values.decode(Double.self, forKey: .number)
    }

    func encode(to encoder: any Encoder) throws {
      var values = encoder.container(keyedBy: CodingKeys.self)
      switch label {
      case .string(let text): try values.encode(text, forKey: .string)
      case .int64(let label): try values.encode(label, forKey: .int64)
      }
      try values.encode(number, forKey: .number)
    }
  }

  init(numbers: [ClassLabel: Double]) { self.numbers = numbers }

  init(from decoder: any Decoder) throws {
    let pairs = try decoder.singleValueContainer().decode([Pair].self)
    numbers = Dictionary(pairs.map { ($0.label, $0.number) }) { first, _ in first }
  }

  func encode(to encoder: any Encoder) throws {
    let sorted = numbers.sorted { ExactString($0.key.description) < ExactString($1.key.description) }
    var value = encoder.singleValueContainer()
    try value.encode(sorted.map(Pair.init))
  }
}

/// The elements by their type, and the shape of an array of strings.
private struct CodedSequence: Codable {
  let sequence: FeatureSequence

  private enum CodingKeys: CodingKey { case strings, shape, int64s, dictionaries, multiArrays }

  init(sequence: FeatureSequence) { self.sequence = sequence }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    if let strings = try values.decodeIfPresent([String].self, forKey: .strings) {
      let shape = try values.decode([Int].self, forKey: .shape)
      guard FeatureSequence.count(of: shape) == strings.count else {
        throw DecodingError.dataCorruptedError(
          forKey: .strings, in: values,
          debugDescription: "\(strings.count) strings are not an array of the shape \(shape)")
      }
      sequence = FeatureSequence(strings: strings, shape: shape)
    } else if let numbers = try values.decodeIfPresent([Int64].self, forKey: .int64s) {
      sequence = FeatureSequence(int64s: numbers)
    } else if let dictionaries = try values.decodeIfPresent([CodedNumbers].self, forKey: .dictionaries) {
      sequence = FeatureSequence(dictionaries: dictionaries.map(\.numbers))
    } else {
      let arrays = try values.decode([CodedArray].self, forKey: .multiArrays)
      sequence = FeatureSequence(multiArrays: arrays.map(\.array))
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    switch sequence.type {
    case .int64: try values.encode(sequence.int64Values, forKey: .int64s)
    case .dictionary: try values.encode(sequence.dictionaryValues.map(CodedNumbers.init), forKey: .dictionaries)
    case .multiArray: try values.encode(sequence.multiArrayValues.map(CodedArray.init), forKey: .multiArrays)
    default:
      try values.encode(sequence.stringValues, forKey: .strings)
      try values.encode(sequence.shape, forKey: .shape)
    }
  }
}

extension KeyedDecodingContainer {
  /// Decodes a case from its raw value.
  fileprivate func decodeEnum<Value: RawRepresentable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value where Value.RawValue: Decodable {
    let raw = try decode(Value.RawValue.self, forKey: key)
    guard let value = Value(rawValue: raw) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(raw) is not a \(type)")
    }
    return value
  }
}
