import CKelvinCodecs
import Glibc
import Kelvin
import KelvinBasics

/// Writes ZIP files. Sizes are in ZIP64 fields if they need more than 32 bits.
enum ZipWriter {
  /// An entry that was written, for the directory.
  private struct Written {
    let name: [UInt8]
    let isFolder: Bool
    let offset: Int
    var packed = 0
    var size = 0
    var checksum = ZipChecksum()

    var isLarge: Bool { max(packed, size, offset) >= ZipWriter.none }
  }

  /// The value that stands for a number in a ZIP64 field.
  private static let none = 0xFFFF_FFFF
  /// 1980-01-01, the first date that ZIP can state, in the format of MS-DOS.
  private static let date = 0x21
  /// Paths are UTF-8; sizes and checksum follow the contents.
  private static let flags = 0x808
  /// The version that an entry needs: with ZIP64.
  private static let version = 45

  static func write(_ entries: [ArchiveSource], to file: AtomicFileWriter, path: String) throws(PackagingError) {
    var offset = 0
    var all: [Written] = []
    func put(_ bytes: [UInt8]) throws(PackagingError) {
      try PackagingError.wrapping { () throws(FileError) in try file.write(bytes) }
      offset += bytes.count
    }
    for entry in entries {
      var written = Written(name: Array(entry.name.utf8), isFolder: entry.file == nil, offset: offset)
      // A large file is known before it is read, so that its header can announce numbers of 64 bits.
      let isLarge = entry.byteCount >= none / 2
      try put(header(written, isLarge: isLarge))
      if entry.file != nil {
        let start = offset
        let stream = try EncodedStream(file, .deflate, path: path)
        try entry.read { (piece) throws(PackagingError) in
          written.size += piece.count
          piece.withUnsafeBytes { written.checksum.add($0) }
          offset += try stream.write(piece)
        }
        offset += try stream.write([], isLast: true)
        written.packed = offset - start
        try put(
          number(0x0807_4B50, 4) + number(Int(written.checksum.value), 4) + number(written.packed, isLarge ? 8 : 4)
            + number(written.size, isLarge ? 8 : 4))
      }
      all.append(written)
    }
    let start = offset
    for written in all { try put(directoryEntry(written)) }
    try put(end(count: all.count, start: start, byteCount: offset - start))
  }

  private static func header(_ entry: Written, isLarge: Bool) -> [UInt8] {
    let extra = isLarge ? number(1, 2) + number(16, 2) + number(0, 8) + number(0, 8) : []
    let sizes = isLarge ? number(none, 4) + number(none, 4) : number(0, 8)
    return number(0x0403_4B50, 4) + common(entry) + number(0, 4) + sizes + number(entry.name.count, 2)
      + number(extra.count, 2) + entry.name + extra
  }

  /// The version, flags, method and date of an entry.
  private static func common(_ entry: Written) -> [UInt8] {
    number(version, 2) + number(entry.isFolder ? 0x800 : flags, 2) + number(entry.isFolder ? 0 : 8, 2) + number(0, 2)
      + number(date, 2)
  }

  private static func directoryEntry(_ entry: Written) -> [UInt8] {
    let extra =
      entry.isLarge
      ? number(1, 2) + number(24, 2) + number(entry.size, 8) + number(entry.packed, 8) + number(entry.offset, 8) : []
    func short(_ value: Int) -> [UInt8] { number(entry.isLarge ? none : value, 4) }
    // The mode of a Unix file is in the upper half of the attributes.
    let mode = Int(entry.isFolder ? S_IFDIR | 0o755 : S_IFREG | 0o644)
    return number(0x0201_4B50, 4) + number(version | 3 << 8, 2) + common(entry)
      + number(Int(entry.checksum.value), 4) + short(entry.packed) + short(entry.size) + number(entry.name.count, 2)
      + number(extra.count, 2) + number(0, 6) + number(mode << 16, 4) + short(entry.offset) + entry.name + extra
  }

  private static func end(count: Int, start: Int, byteCount: Int) -> [UInt8] {
    let isLarge = count >= 0xFFFF || max(start, byteCount) >= none
    let large =
      number(0x0606_4B50, 4) + number(44, 8) + number(version | 3 << 8, 2) + number(version, 2) + number(0, 8)
      + number(count, 8) + number(count, 8) + number(byteCount, 8) + number(start, 8) + number(0x0706_4B50, 4)
      + number(0, 4) + number(start + byteCount, 8) + number(1, 4)
    let shortCount = number(isLarge ? 0xFFFF : count, 2)
    return (isLarge ? large : []) + number(0x0605_4B50, 4) + number(0, 4) + shortCount + shortCount
      + number(isLarge ? none : byteCount, 4) + number(isLarge ? none : start, 4) + number(0, 2)
  }

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

/// The checksum of a file in a ZIP archive, of pieces one after the other.
struct ZipChecksum {
  private(set) var value: UInt32 = 0

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    value = kelvin_crc32_add(value, bytes.baseAddress, bytes.count)
  }
}
