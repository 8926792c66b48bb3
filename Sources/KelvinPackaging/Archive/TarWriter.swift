/// Writes tar files: ustar, with records of pax for long names and large sizes.
enum TarWriter {
  static func write(_ entries: [ArchiveSource], to stream: EncodedStream) throws(PackagingError) {
    for entry in entries {
      let name = Array(entry.name.utf8)
      let records = records(name, entry.byteCount)
      if !records.isEmpty {
        try stream.write(TarHeader.block(name: Array("records".utf8), size: records.count, type: "x", isFolder: false))
        try stream.write(padded(records))
      }
      try stream.write(
        TarHeader.block(
          name: name, size: entry.byteCount, type: entry.file == nil ? "5" : "0", isFolder: entry.file == nil))
      try entry.read { (piece) throws(PackagingError) in try stream.write(piece) }
      try stream.write(padding(after: entry.byteCount))
    }
    try stream.write([UInt8](repeating: 0, count: 2 * TarHeader.byteCount), isLast: true)
  }

  private static func records(_ name: [UInt8], _ size: Int) -> [UInt8] {
    (name.count > TarHeader.longestName ? record("path", name) : [])
      + (size > TarHeader.largestSize ? record("size", Array("\(size)".utf8)) : [])
  }

  private static func record(_ key: String, _ value: [UInt8]) -> [UInt8] {
    // The length counts its own digits.
    let body = Array(" \(key)=".utf8) + value + [0x0A]
    var length = body.count
    while "\(length)".utf8.count + body.count != length { length = "\(length)".utf8.count + body.count }
    return Array("\(length)".utf8) + body
  }

  private static func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + padding(after: bytes.count) }

  private static func padding(after count: Int) -> [UInt8] {
    [UInt8](repeating: 0, count: (TarHeader.byteCount - count % TarHeader.byteCount) % TarHeader.byteCount)
  }
}
