import KelvinGraph
import KelvinImport

extension ONNXTensor {
  /// The elements of a narrow type as a file has them: integers packed as they are, floating-point numbers as codes and a
  /// table of what they stand for.
  func codes(_ type: ONNXLowPrecisionType, _ files: ModelFiles) throws(FormatError) -> Weight {
    let contents = try contents()
    let shape = try contents.shape(of: self)
    let packed = try packedElements(type, shape, contents, files)
    do throws(GraphError) {
      let codes = Weight(try PackedIntegers(packed.bytes, bits: packed.bits, isSigned: type.scalar == .int8, shape: shape))
      guard type.isFloatingPoint else { return codes }
      let values = type.floats
      let entries = (0..<(1 << packed.bits)).map { values[$0 % values.count] }
      let single = [Int](repeating: 1, count: shape.rank)
      return try Weight(palettized: codes, table: Weight(Tensor(entries, Shape(single + [entries.count, 1]))))
    } catch {
      throw malformed(error.reason)
    }
  }

  /// A stream of codes, the first one in the least significant bits, and how many bits each takes.
  private func packedElements(
    _ type: ONNXLowPrecisionType, _ shape: Shape, _ contents: Contents, _ files: ModelFiles
  ) throws(FormatError) -> (bytes: Bytes, bits: Int) {
    let count = PackedIntegers.byteCount(shape.count, bits: type.bits)
    if let bytes = try bytes(count, "\(type)[\(shape)]", contents, files) { return (bytes, type.bits) }
    // An integer for each byte, which for 6 bits holds one element.
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
