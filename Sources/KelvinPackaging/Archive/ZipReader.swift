import CKelvinCodecs
import Glibc
import KelvinBasics

/// Unpacks a ZIP file, also one with ZIP64 records.
///
/// Reference: APPNOTE.TXT, "ZIP File Format Specification", version 6.3.10, sections 4.3 to 4.5.
struct ZipReader {
  private struct Entry {
    let name: [UInt8]
    let flags: Int
    let method: Int
    let checksum: UInt32
    var packed: Int
    var size: Int
    /// The offset of the entry's own header.
    var offset: Int
    /// The type in the mode of a Unix file; 0 if the archive does not state it.
    let fileType: Int
  }

  private enum Signature {
    static let entry = 0x0403_4B50
    static let directoryEntry = 0x0201_4B50
    static let directoryEnd = 0x0605_4B50
    static let largeDirectoryEnd = 0x0606_4B50
    static let largeDirectoryPlace = 0x0706_4B50
  }

  private let file: OpenFile

  init(_ file: OpenFile) { self.file = file }

  func unpack(into target: UnpackedFolder) throws(PackagingError) {
    let entries = try entries(target)
    try refuseOverlaps(entries)
    for entry in entries where !entry.name.starts(with: "__MACOSX/".utf8) { try unpack(entry, target) }
  }

  /// An archive that stores one content under many names unpacks to far more than its size.
  private func refuseOverlaps(_ entries: [Entry]) throws(PackagingError) {
    let sorted = entries.sorted { $0.offset < $1.offset }
    for (entry, next) in zip(sorted, sorted.dropFirst()) where entry.offset + 30 + entry.packed > next.offset {
      throw .refused(file.path, "two of its files share bytes", entry: String(pathBytes: next.name))
    }
  }

  private func unpack(_ entry: Entry, _ target: UnpackedFolder) throws(PackagingError) {
    let text = String(pathBytes: entry.name)
    guard entry.fileType == 0 || entry.fileType == Int(S_IFREG) || entry.fileType == Int(S_IFDIR) else {
      let isLink = entry.fileType == Int(S_IFLNK)
      throw .refused(file.path, isLink ? "it is a symbolic link" : "it is a special file", entry: text)
    }
    guard let name = try EntryName(entry.name, archive: file.path) else {
      guard entry.name.last == UInt8(ascii: "/") else { throw damaged("it is a file without a name", text) }
      return
    }
    guard !name.isFolder else {
      guard entry.size == 0 else { throw damaged("a folder has contents", text) }
      return try target.makeFolder(name)
    }
    guard entry.fileType != Int(S_IFDIR) else { throw damaged("it is a folder whose path has no slash", text) }
    // Bit 0 is encryption, bit 6 strong encryption.
    guard entry.flags & 0x41 == 0 else {
      throw PackagingError(
        .unsupported, "archive '\(file.path.lastPathPart)', '\(text)': it is encrypted; unpack it first")
    }
    guard entry.method == 0 || entry.method == 8 else {
      throw PackagingError(
        .unsupported,
        "archive '\(file.path.lastPathPart)', '\(text)': it is compressed by method \(entry.method), expected 'stored' or "
          + "'deflated'; make the archive again")
    }
    let start = try contents(of: entry, text)
    let stream = try DecodedStream(file, entry.method == 8 ? .deflate : nil, range: start..<start + entry.packed)
    let buffer = PieceBuffer()
    try target.makeFile(name) { (write) throws(PackagingError) in
      var (size, checksum) = (0, ZipChecksum())
      while case let count = try stream.read(into: buffer.all), count > 0 {
        size += count
        guard size <= entry.size else { throw damaged("it has more than the stated \(entry.size) bytes", text) }
        try target.count(bytes: count)
        checksum.add(UnsafeRawBufferPointer(rebasing: buffer.all.prefix(count)))
        try write(UnsafeRawBufferPointer(rebasing: buffer.all.prefix(count)))
      }
      guard size == entry.size else { throw damaged("it has \(size) of the stated \(entry.size) bytes", text) }
      guard checksum.value == entry.checksum else { throw damaged("its checksum differs", text) }
    }
  }

  /// Returns the offset of an entry's contents. Its own header must have the name of the directory.
  private func contents(of entry: Entry, _ text: String) throws(PackagingError) -> Int {
    guard entry.offset + 30 <= file.byteCount else { throw damaged("its header is beyond the archive", text) }
    let header = try bytes(30, at: entry.offset)
    guard header.number(0, 4) == Signature.entry else { throw damaged("it has no header", text) }
    let (name, extra) = (header.number(26, 2), header.number(28, 2))
    let start = entry.offset + 30 + name + extra
    guard start + entry.packed <= file.byteCount else { throw damaged("it ends beyond the archive", text) }
    guard try bytes(name, at: entry.offset + 30) == entry.name else {
      throw damaged("its header has another path", text)
    }
    return start
  }

  /// Reads the directory.
  private func entries(_ target: UnpackedFolder) throws(PackagingError) -> [Entry] {
    let directory = try directory()
    var entries: [Entry] = []
    var at = 0
    for _ in 0..<directory.count {
      // Counted before the entry is kept, so that a long directory takes no memory.
      try target.countEntry()
      let header = try directoryBytes(46, directory, at: at)
      guard header.number(0, 4) == Signature.directoryEntry else {
        throw damaged("its directory has no entry at byte \(directory.offset + at)")
      }
      let (name, extra, comment) = (header.number(28, 2), header.number(30, 2), header.number(32, 2))
      let rest = try directoryBytes(name + extra, directory, at: at + 46)
      var entry = Entry(
        name: Array(rest.prefix(name)), flags: header.number(8, 2), method: header.number(10, 2),
        checksum: UInt32(header.number(16, 4)), packed: header.number(20, 4), size: header.number(24, 4),
        offset: header.number(42, 4),
        // The mode is stated by archives that were made on Unix (3) and macOS (19).
        fileType: [3, 19].contains(header.number(5, 1)) ? header.number(40, 2) & Int(S_IFMT) : 0)
      try readLargeNumbers(Array(rest.dropFirst(name)), into: &entry)
      guard entry.offset < file.byteCount, entry.packed <= file.byteCount, entry.size >= 0 else {
        throw damaged("its directory names bytes beyond its end")
      }
      entries.append(entry)
      at += 46 + name + extra + comment
    }
    return entries
  }

  /// Replaces the numbers that do not fit in 32 bits by those of the ZIP64 field.
  private func readLargeNumbers(_ extra: [UInt8], into entry: inout Entry) throws(PackagingError) {
    let none = 0xFFFF_FFFF
    guard [entry.size, entry.packed, entry.offset].contains(none) else { return }
    var at = 0
    while at + 4 <= extra.count {
      let (tag, count) = (extra.number(at, 2), extra.number(at + 2, 2))
      guard at + 4 + count <= extra.count else { break }
      if tag == 1 {
        var field = Array(extra[at + 4..<at + 4 + count])
        func next() throws(PackagingError) -> Int {
          guard field.count >= 8, field.number(0, 8) >= 0 else { throw damaged("its ZIP64 numbers are damaged") }
          defer { field.removeFirst(8) }
          return field.number(0, 8)
        }
        if entry.size == none { entry.size = try next() }
        if entry.packed == none { entry.packed = try next() }
        if entry.offset == none { entry.offset = try next() }
        return
      }
      at += 4 + count
    }
    // Without the field, the numbers are of a file of almost 4 GiB.
  }

  private typealias Directory = (offset: Int, byteCount: Int, count: Int)

  private func directory() throws(PackagingError) -> Directory {
    // The directory's end is followed by a comment of at most 65,535 bytes.
    let tail = max(0, file.byteCount - 22 - 0xFFFF)
    let bytes = try bytes(file.byteCount - tail, at: tail)
    let last = stride(from: bytes.count - 22, through: 0, by: -1).first {
      bytes.number($0, 4) == Signature.directoryEnd && $0 + 22 + bytes.number($0 + 20, 2) == bytes.count
    }
    guard let last else { throw damaged("it has no directory of its files, it may be cut short") }
    guard bytes.number(last + 4, 2) == 0 || bytes.number(last + 4, 2) == 0xFFFF else {
      throw PackagingError(
        .unsupported, "archive '\(file.path.lastPathPart)': it is one of several parts; join them first")
    }
    var directory: Directory = (bytes.number(last + 16, 4), bytes.number(last + 12, 4), bytes.number(last + 10, 2))
    if directory.count == 0xFFFF || directory.byteCount == 0xFFFF_FFFF || directory.offset == 0xFFFF_FFFF {
      directory = try largeDirectory(endAt: tail + last) ?? directory
    }
    let (end, isTooLong) = directory.offset.addingReportingOverflow(directory.byteCount)
    guard directory.offset >= 0, directory.byteCount >= 0, directory.count >= 0, !isTooLong, end <= tail + last,
      directory.count <= directory.byteCount / 46
    else { throw damaged("its directory is beyond its end, it may be cut short") }
    return directory
  }

  /// Reads the ZIP64 record of the directory; nil if there is none.
  private func largeDirectory(endAt end: Int) throws(PackagingError) -> Directory? {
    guard end >= 20 else { return nil }
    let place = try bytes(20, at: end - 20)
    guard place.number(0, 4) == Signature.largeDirectoryPlace else { return nil }
    let offset = place.number(8, 8)
    guard offset >= 0, offset <= end - 76 else { throw damaged("its ZIP64 directory is beyond its end") }
    let record = try bytes(56, at: offset)
    guard record.number(0, 4) == Signature.largeDirectoryEnd else { throw damaged("it has no ZIP64 directory") }
    return (record.number(48, 8), record.number(40, 8), record.number(32, 8))
  }

  private func directoryBytes(_ count: Int, _ directory: Directory, at offset: Int) throws(PackagingError) -> [UInt8] {
    guard offset + count <= directory.byteCount else { throw damaged("its directory ends inside an entry") }
    return try bytes(count, at: directory.offset + offset)
  }

  private func bytes(_ count: Int, at offset: Int) throws(PackagingError) -> [UInt8] {
    try file.bytes(count, at: offset)
  }

  private func damaged(_ reason: String, _ entry: String? = nil) -> PackagingError {
    .damaged(file.path, reason, entry: entry)
  }
}

extension [UInt8] {
  /// Returns a little-endian number of `count` bytes, which must lie inside the array.
  fileprivate func number(_ offset: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }
}
