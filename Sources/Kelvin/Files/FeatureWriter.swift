import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinImages
import KelvinImport

/// One written output: the path of its file, or the value itself if the value is a number or a string.
package struct WrittenFeature: Encodable, Sendable {
  /// The number of elements along each axis; nil for outputs without axes.
  package var shape: [Int]?
  package var type: String
  package var file: String?
  package var value: Value?

  package enum Value: Encodable, Sendable {
    case integer(Int64)
    case number(Double)
    case text(String)

    package func encode(to encoder: any Encoder) throws {
      var single = encoder.singleValueContainer()
      switch self {
      case .integer(let value): try single.encode(value)
      case .number(let value): try single.encode(value)
      case .text(let value): try single.encode(value)
      }
    }
  }

  package var typeText: String { shape.map { "\(type)[\(Shape($0))]" } ?? type }

  package var valueText: String {
    switch value {
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    case nil: file ?? ""
    }
  }
}

/// Writes the outputs of a prediction into a folder.
///
/// Tensors are written as NAME.npy, images as NAME.png, dictionaries and sequences as NAME.json. The JSON file of a
/// sequence of arrays lists the names of the arrays' files. Grayscale images in floating point are written as NAME.npy,
/// because no supported image format stores floating point.
package struct FeatureWriter {
  private let folder: String

  package init(folder: String) { self.folder = folder }

  /// - Parameter order: the outputs' names in the model's order.
  /// - Throws: `ModelError` with code `io`.
  package func write(
    _ results: DictionaryFeatureProvider, order: [String]
  ) throws(ModelError) -> [(name: String, output: WrittenFeature)] {
    try ModelError.wrapping { try put(results, order) }
  }

  private func put(
    _ results: DictionaryFeatureProvider, _ order: [String]
  ) throws -> [(name: String, output: WrittenFeature)] {
    var taken: Set<String> = []
    return try order.compactMap { name in
      guard let value = results[name] else { return nil }
      func place(_ suffix: String) -> String {
        let plain = LocalFile.sanitized(name)
        var number = 1
        var candidate = plain
        while !taken.insert("\(candidate).\(suffix)").inserted {
          number += 1
          candidate = "\(plain)_\(number)"
        }
        return "\(folder)/\(candidate).\(suffix)"
      }
      return (name, try write(value, place: place))
    }
  }

  private func entries(_ dictionary: [ClassLabel: Double]) -> [String: Double] {
    Dictionary(dictionary.map { ($0.key.description, $0.value) }, uniquingKeysWith: max)
  }

  private func write(_ value: FeatureValue, place: (_ suffix: String) -> String) throws -> WrittenFeature {
    switch value.storage {
    case .int64(let number): return WrittenFeature(type: "int64", value: .integer(number))
    case .double(let number): return WrittenFeature(type: "double", value: .number(number))
    case .string(let text): return WrittenFeature(type: "string", value: .text(text))
    case .image, .backing:
      guard let pixels = value.imageBufferValue else { break }
      if let numbers = pixels.withPixels(\.grayNumbers) {
        let path = place("npy")
        let tensor = Tensor(numbers, [1, 1, pixels.height, pixels.width])
        try LocalFile.write(
          NPY.write(tensor.converted(to: pixels.format == .gray16Half ? .float16 : .float32)), to: path)
        return WrittenFeature(shape: [pixels.height, pixels.width, 1], type: "image", file: path)
      }
      let path = place("png")
      try LocalFile.write(try ImageCodec.encode(pixels, as: .png, name: path), to: path)
      return WrittenFeature(
        shape: [pixels.height, pixels.width, pixels.format.channelCount], type: "image", file: path)
    case .multiArray(let array):
      let path = place("npy")
      _ = try write(array, to: path)
      return WrittenFeature(shape: array.shape, type: array.dataType.rawValue, file: path)
    case .dictionary(let numbers):
      let path = place("json")
      try LocalFile.write(Array(try Self.json(entries(numbers)).utf8) + [0x0A], to: path)
      return WrittenFeature(type: "dictionary", file: path)
    case .sequence(let sequence):
      let path = place("json")
      let text =
        switch sequence.type {
        case .string: try Self.json(StringArrayDocument(sequence))
        case .dictionary: try Self.json(sequence.dictionaryValues.map(entries))
        case .multiArray: try Self.json(try sequence.multiArrayValues.map { try write($0, to: place("npy")) })
        default: try Self.json(sequence.int64Values)
        }
      try LocalFile.write(Array(text.utf8) + [0x0A], to: path)
      return WrittenFeature(shape: sequence.shape, type: "sequence", file: path)
    case .undefined: break
    }
    throw ModelError(.generic, "an output of type \(value.type.rawValue) cannot be written")
  }

  /// Writes an array to a path and returns the file's name relative to the folder.
  private func write(_ array: MultiArray, to path: String) throws -> String {
    try LocalFile.write(NPY.write(array.tensor), to: path)
    return String(path.dropFirst(folder.count + 1))
  }

  private static func json(_ document: some Encodable) throws -> String {
    String(decoding: try JSONText.encode(document, unspeakable: .text), as: UTF8.self)
  }
}
