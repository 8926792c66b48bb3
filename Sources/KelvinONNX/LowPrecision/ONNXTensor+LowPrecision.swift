import KelvinGraph
import KelvinImport

extension ONNXTensor {
  /// Returns the elements of a low-precision type in the file's encoding: packed integers, or floating-point codes with
  /// a table of their values.
  func codes(_ type: ONNXLowPrecisionType, _ files: ModelFiles) throws(FormatError) -> Weight {
    let contents = try contents()
    let shape = try contents.shape(of: self)
    let packed = try packedElements(type, shape, contents, files)
    do throws(GraphError) {
      let codes = Weight(
        try PackedIntegers(packed.bytes, bits: packed.bits, isSigned: type.scalar == .int8, shape: shape))
      guard type.isFloatingPoint else { return codes }
      let values = type.floats
      let entries = (0..<(1 << packed.bits)).map { values[$0 % values.count] }
      let single = [Int](repeating: 1, count: shape.rank)
      return try Weight(palettized: codes, table: Weight(Tensor(entries, Shape(single + [entries.count, 1]))))
    } catch {
      throw malformed(error.reason)
    }
  }

  /// Returns a stream of codes, the first one in the least significant bits, and the number of bits of each.
  private func packedElements(
    _ type: ONNXLowPrecisionType, _ shape: Shape, _ contents: Contents, _ files: ModelFiles
  ) throws(FormatError) -> (bytes: Bytes, bits: Int) {
    let count = PackedIntegers.byteCount(shape.count, bits: type.bits)
    if let bytes = try bytes(count, "\(type)[\(shape)]", contents, files) { return (bytes, type.bits) }
    // The file has an integer for each byte; with 6 bits a byte holds one element.
    let bits = type.bits == 6 ? 8 : type.bits
    let limit = PackedIntegers.byteCount(shape.count, bits: bits)
    var values: [Int] = []
    for field in contents.typed { try field.append(to: &values, limit: limit) }
    guard values.count == limit else {
      throw malformed("\(type)[\(shape)] takes \(limit) integers, \(values.count) are given")
    }
    return (Bytes(values.map { UInt8(truncatingIfNeeded: $0) }), bits)
  }
}
