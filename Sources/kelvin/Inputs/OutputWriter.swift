import FoundationEssentials
import Kelvin
import KelvinFormats
import KelvinGraph
import KelvinImages

/// What `predict` says of one output.
struct WrittenOutput: Encodable {
  var shape: [Int]?
  var type: String
  var file: String?
  var value: Value?

  enum Value: Encodable {
    case integer(Int64)
    case number(Double)
    case text(String)

    func encode(to encoder: any Encoder) throws {
      var single = encoder.singleValueContainer()
      switch self {
      case .integer(let value): try single.encode(value)
      case .number(let value): try single.encode(value)
      case .text(let value): try single.encode(value)
      }
    }
  }

  var typeText: String { shape.map { "\(type)[\(Shape($0))]" } ?? type }

  var valueText: String {
    switch value {
    case .integer(let value): "\(value)"
    case .number(let value): "\(value)"
    case .text(let value): value
    case nil: file ?? ""
    }
  }
}

/// Writes a prediction's outputs into a folder.
struct OutputWriter {
  let folder: String

  /// - Parameter order: the outputs' names in the model's order.
  /// - Throws: `FileError`, `ImageError`.
  func write(_ results: DictionaryFeatureProvider, order: [String]) throws -> [(name: String, output: WrittenOutput)] {
    var taken: Set<String> = []
    return try order.compactMap { name in
      guard let value = results[name] else { return nil }
      func place(_ suffix: String) -> String {
        let plain = OutputFile.sanitized(name)
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

  private func write(_ value: FeatureValue, place: (_ suffix: String) -> String) throws -> WrittenOutput {
    switch value.type {
    case .int64: return WrittenOutput(type: "int64", value: .integer(value.int64Value))
    case .double: return WrittenOutput(type: "double", value: .number(value.doubleValue))
    case .string: return WrittenOutput(type: "string", value: .text(value.stringValue))
    case .image:
      guard let pixels = value.imageBufferValue else { break }
      let path = place("png")
      try OutputFile.write(try ImageFile.encode(pixels, as: .png, name: path), to: path)
      return WrittenOutput(shape: [pixels.height, pixels.width, pixels.format.channelCount], type: "image", file: path)
    case .multiArray:
      guard let array = value.multiArrayValue else { break }
      let path = place("npy")
      try OutputFile.write(NPY.write(array.tensor), to: path)
      return WrittenOutput(shape: array.shape, type: array.dataType.rawValue, file: path)
    case .dictionary:
      let path = place("json")
      try OutputFile.write(Array(try jsonText(entries(value.dictionaryValue)).utf8) + [0x0A], to: path)
      return WrittenOutput(type: "dictionary", file: path)
    case .sequence:
      guard let sequence = value.sequenceValue else { break }
      let path = place("json")
      let text =
        switch sequence.type {
        case .string: try jsonText(sequence.stringValues)
        case .dictionary: try jsonText(sequence.dictionaryValues.map(entries))
        default: try jsonText(sequence.int64Values)
        }
      try OutputFile.write(Array(text.utf8) + [0x0A], to: path)
      return WrittenOutput(shape: [sequence.count], type: "sequence", file: path)
    case .state: break
    }
    throw InputError("an output of type \(value.type.rawValue) cannot be written")
  }
}
