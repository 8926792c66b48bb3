import KelvinGraph
import KelvinImport

/// A record of a `weight.bin` file: 64 bytes that describe the elements and give their position.
///
/// Layout (little-endian): u32 sentinel 0xDEADBEEF, u32 element type, u64 byte count, u64 position of the elements.
struct WeightBlob {
  private let contents: Bytes
  private let dataType: UInt32
  private let byteCount: UInt64
  private let dataOffset: UInt64
  private let file: String
  private let place: String
  private let record: Int

  init(_ blob: MILValue.Blob, _ files: ModelFiles, _ model: String, _ name: String) throws(FormatError) {
    let contents = try files.bytes(blob.file, model: model)
    file = blob.file
    place = "constant '\(name)'"
    record = blob.offset
    self.contents = contents
    guard let header = contents.slice(offset: 0, count: 64), let metadata = contents.slice(offset: record, count: 64)
    else {
      throw FormatError(
        .malformed, file: blob.file, place: place, offset: blob.offset,
        "its record is outside the file, which has \(contents.count) bytes",
        remedy: "the weight file is cut short or belongs to another model")
    }
    let version = header.load(UInt32.self, at: 4)
    guard version == 2 else {
      throw FormatError(.unsupported, file: blob.file, "its version is \(version), expected 2")
    }
    let sentinel = metadata.load(UInt32.self, at: 0)
    guard sentinel == 0xDEAD_BEEF else {
      throw FormatError(
        .malformed, file: blob.file, place: place, offset: blob.offset,
        "no record starts here: expected 0xDEADBEEF, found 0x\(String(sentinel, radix: 16, uppercase: true))",
        remedy: "the weight file is damaged or belongs to another model")
    }
    dataType = metadata.load(UInt32.self, at: 4)
    byteCount = metadata.load(UInt64.self, at: 8)
    dataOffset = metadata.load(UInt64.self, at: 16)
  }

  /// Returns the elements, memory-mapped.
  func elements(_ type: TensorType) throws(FormatError) -> Bytes {
    guard dataType == Self.number(type.scalar) else {
      throw malformed("\(type) is expected, the record has element type \(dataType)")
    }
    return try elements(type.byteCount, "\(type)")
  }

  /// Returns elements of fewer than 8 bits, memory-mapped.
  ///
  /// - Parameter shape: The shape, which must be addressable.
  func elements(_ packing: MILPacking, _ shape: Shape) throws(FormatError) -> Bytes {
    let name = "\(shape) of \(packing.bits) bits"
    guard dataType == packing.blobType else {
      throw malformed("\(name) is expected, the record has element type \(dataType)")
    }
    return try elements(PackedIntegers.byteCount(shape.count, bits: packing.bits), name)
  }

  private func elements(_ count: Int, _ type: String) throws(FormatError) -> Bytes {
    guard byteCount == UInt64(count) else {
      throw malformed("\(type) takes \(count) bytes, the record has \(byteCount)")
    }
    guard let offset = Int(exactly: dataOffset), let bytes = contents.slice(offset: offset, count: count)
    else {
      throw malformed("its \(byteCount) bytes from \(dataOffset) are outside the file, which has \(contents.count)")
    }
    return bytes
  }

  /// Returns the number of an element type in weight files.
  private static func number(_ scalar: ScalarType) -> UInt32? {
    switch scalar {
    case .float16: 1
    case .float32: 2
    case .uint8, .bool: 3
    case .int8: 4
    case .int16: 6
    case .uint16: 7
    case .int32: 14
    case .uint32: 15
    case .float64, .int64, .uint64: nil
    }
  }

  private func malformed(_ reason: String) -> FormatError {
    FormatError(
      .malformed, file: file, place: place, offset: record, reason,
      remedy: "the weight file is damaged or belongs to another model")
  }
}

extension Bytes {
  fileprivate func load<T: FixedWidthInteger & BitwiseCopyable>(_: T.Type, at offset: Int) -> T {
    withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
  }
}
