/// ONNX models of one addition, `y = x + w`, with 2 × 3 elements of float32.
enum SmallNetwork {
  /// The fields of `TensorProto` that the functions here write.
  private enum TensorField {
    static let (dimension, type, name, raw, external, location) = (1, 2, 8, 9, 13, 14)
  }

  /// Returns a model.
  ///
  /// - Parameter tensor: The constant `w`.
  static func sum(withConstant tensor: [UInt8]) -> [UInt8] {
    let node = text(1, "x") + text(1, "w") + text(2, "y") + text(4, "Add")
    let graph =
      bytes(1, node) + text(2, "sum") + bytes(5, tensor) + bytes(11, feature("x")) + bytes(12, feature("y"))
    return number(1, 8) + bytes(7, graph) + bytes(8, text(1, "") + number(2, 17))
  }

  /// Returns a constant with its elements in the model.
  static func tensor(elements: [UInt8]) -> [UInt8] {
    head(type: 1, [2, 3]) + bytes(TensorField.raw, elements)
  }

  /// Returns a constant with its elements in another file.
  ///
  /// - Parameters:
  ///   - type: A number of `TensorProto.DataType`.
  ///   - entries: Keys and values of the description: location, offset and length.
  static func tensor(type: UInt64, _ dimensions: [UInt64], external entries: [([UInt8], [UInt8])]) -> [UInt8] {
    entries.reduce(head(type: type, dimensions) + number(TensorField.location, 1)) { message, entry in
      message + bytes(TensorField.external, bytes(1, entry.0) + bytes(2, entry.1))
    }
  }

  private static func head(type: UInt64, _ dimensions: [UInt64]) -> [UInt8] {
    dimensions.flatMap { number(TensorField.dimension, $0) } + number(TensorField.type, type)
      + text(TensorField.name, "w")
  }

  private static func feature(_ name: String) -> [UInt8] {
    let shape = bytes(1, number(1, 2)) + bytes(1, number(1, 3))
    return text(1, name) + bytes(2, bytes(1, number(1, 1) + bytes(2, shape)))
  }

  private static func text(_ field: Int, _ text: String) -> [UInt8] { bytes(field, Array(text.utf8)) }

  private static func bytes(_ field: Int, _ content: [UInt8]) -> [UInt8] {
    varint(UInt64(field) << 3 | 2) + varint(UInt64(content.count)) + content
  }

  private static func number(_ field: Int, _ value: UInt64) -> [UInt8] { varint(UInt64(field) << 3) + varint(value) }

  private static func varint(_ value: UInt64) -> [UInt8] {
    value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F | 0x80)] + varint(value >> 7)
  }
}
