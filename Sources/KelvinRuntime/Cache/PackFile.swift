import KelvinGraph

/// A file of named, page-aligned byte regions, made to be mapped.
///
/// Layout, little-endian: magic (8 bytes), format version and entry count (4 each), the index's length (8) and its
/// XXH3-128 as text (32); the index, for each entry its key's length (4), the key, offset and size (8 each); then the
/// regions, each starting at a multiple of 4096. The index is checked against its hash and every region against the
/// file's length; a file that fails is as good as absent.
struct PackFile {
  static let alignment = 4096
  private static let magic: [UInt8] = Array("KELVPACK".utf8)
  private static let version: UInt32 = 1
  private static let headerSize = 56

  /// The regions by key.
  let entries: [String: Bytes]

  /// The regions of a well-formed file, or nil.
  init?(_ file: Bytes) {
    guard file.count >= Self.headerSize else { return nil }
    let parsed: [(String, Int, Int)]? = file.withUnsafeBytes { raw in
      guard Array(raw[..<8]) == Self.magic, raw.loadUnaligned(fromByteOffset: 8, as: UInt32.self) == Self.version else {
        return nil
      }
      let count = Int(raw.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
      let length = raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
      guard length <= UInt64(raw.count - Self.headerSize) else { return nil }
      let index = UnsafeRawBufferPointer(rebasing: raw[Self.headerSize..<Self.headerSize + Int(length)])
      guard Array(raw[24..<56]) == Array(ContentKey(index).description.utf8) else { return nil }
      var parsed: [(String, Int, Int)] = []
      var place = 0
      for _ in 0..<count {
        guard place + 4 <= index.count else { return nil }
        let keyLength = Int(index.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        place += 4
        guard keyLength <= index.count - place, index.count - place - keyLength >= 16 else { return nil }
        let key = String(decoding: index[place..<place + keyLength], as: UTF8.self)
        place += keyLength
        let offset = index.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        let size = index.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)
        place += 16
        guard offset <= UInt64(raw.count), size <= UInt64(raw.count) - offset, offset % UInt64(Self.alignment) == 0
        else {
          return nil
        }
        parsed.append((key, Int(offset), Int(size)))
      }
      return parsed
    }
    guard let parsed else { return nil }
    var entries: [String: Bytes] = [:]
    for (key, offset, size) in parsed { entries[key] = file.slice(offset: offset, count: size) }
    self.entries = entries
  }

  subscript(key: String) -> Bytes? { entries[key] }

  /// Writes a file with these regions.
  ///
  /// - Returns: whether the file is there now.
  static func write(_ entries: [String: Bytes], to directory: CacheDirectory, _ name: String) -> Bool {
    let ordered = entries.sorted { $0.key < $1.key }
    let indexSize = ordered.reduce(0) { $0 + 4 + $1.key.utf8.count + 16 }
    func aligned(_ offset: Int) -> Int { (offset + alignment - 1) / alignment * alignment }
    var index: [UInt8] = []
    var place = aligned(headerSize + indexSize)
    var gaps = [place - headerSize - indexSize]
    func append(_ value: some FixedWidthInteger, _ bytes: inout [UInt8]) {
      withUnsafeBytes(of: value.littleEndian) { bytes += Array($0) }
    }
    for (key, bytes) in ordered {
      append(UInt32(key.utf8.count), &index)
      index += Array(key.utf8)
      append(UInt64(place), &index)
      append(UInt64(bytes.count), &index)
      let end = place + bytes.count
      place = aligned(end)
      gaps.append(place - end)
    }
    var header = magic
    append(version, &header)
    append(UInt32(ordered.count), &header)
    append(UInt64(index.count), &header)
    header += Array(index.withUnsafeBytes { ContentKey($0) }.description.utf8)
    let head = Bytes(header + index)
    let zeros = Bytes(count: alignment) { _ in }
    func region(_ bytes: Bytes, _ count: Int? = nil) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(start: bytes.baseAddress, count: count ?? bytes.count)
    }
    var parts = [region(head), region(zeros, gaps[0])]
    for (gap, entry) in zip(gaps.dropFirst(), ordered) { parts += [region(entry.value), region(zeros, gap)] }
    return withExtendedLifetime((head, zeros, entries)) { directory.write(name, parts) }
  }
}
