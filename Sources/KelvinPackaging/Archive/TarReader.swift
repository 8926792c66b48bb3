import Glibc
import KelvinBasics

/// Unpacks a tar file: ustar, with the records of pax and the long names of GNU tar.
struct TarReader {
  private let stream: DecodedStream
  private let buffer = PieceBuffer()
  private let archive: String
  /// The most bytes of records or of a name, before an entry.
  private static let largestRecords = 1 << 20

  init(_ file: OpenFile, _ codec: StreamCodec?) throws(PackagingError) {
    stream = try DecodedStream(file, codec)
    archive = file.path
  }

  /// The parts of the next header that entries before it have stated.
  private struct Stated {
    var name: [UInt8]?
    var size: Int?
  }

  func unpack(into target: UnpackedFolder) throws(PackagingError) {
    var stated = Stated()
    while let block = try block(target, isFirst: true) {
      guard let header = TarHeader(block) else { throw damaged("it has an entry with a damaged header") }
      switch header.kind {
      case .records, .commonRecords, .longName:
        try target.countEntry()
        let bytes = try contents(header.size, target)
        switch header.kind {
        case .records: try read(bytes, into: &stated)
        case .commonRecords: try checkCommon(bytes)
        default: stated.name = Array(bytes.prefix { $0 != 0 })
        }
      case .folder:
        try target.countEntry()
        guard header.size == 0, (stated.size ?? 0) == 0 else { throw damaged("it has a folder with contents") }
        if let name = try EntryName(stated.name ?? header.name, archive: archive) { try target.makeFolder(name) }
        stated = Stated()
      case .file:
        try target.countEntry()
        guard let name = try EntryName(stated.name ?? header.name, archive: archive), !name.isFolder else {
          throw damaged("it has a file without a name")
        }
        try unpack(name, stated.size ?? header.size, target)
        stated = Stated()
      case .other(let reason):
        throw .refused(archive, reason, entry: String(pathBytes: stated.name ?? header.name))
      }
    }
  }

  private func unpack(_ name: EntryName, _ size: Int, _ target: UnpackedFolder) throws(PackagingError) {
    try target.makeFile(name) { (write) throws(PackagingError) in
      var left = size
      while left > 0 {
        let count = try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.all.prefix(left)))
        guard count > 0 else { throw damaged("it ends inside '\(name.path)'") }
        try target.count(bytes: count)
        try write(UnsafeRawBufferPointer(rebasing: buffer.all.prefix(count)))
        left -= count
      }
    }
    try skipPadding(after: size, target)
  }

  /// Returns the next block; nil at the end of the archive, which is two blocks of zeros and then only zeros.
  private func block(_ target: UnpackedFolder, isFirst: Bool) throws(PackagingError) -> [UInt8]? {
    let block = try bytes(TarHeader.byteCount, target)
    guard block.allSatisfy({ $0 == 0 }) else {
      guard isFirst else { throw damaged("it has a single block of zeros between its entries") }
      return block
    }
    guard isFirst else { return nil }
    _ = try self.block(target, isFirst: false)
    while case let count = try stream.read(into: buffer.all), count > 0 {
      try target.count(bytes: count)
      guard buffer.all.prefix(count).allSatisfy({ $0 == 0 }) else { throw damaged("it has bytes after its end") }
    }
    return nil
  }

  private func contents(_ size: Int, _ target: UnpackedFolder) throws(PackagingError) -> [UInt8] {
    guard size <= Self.largestRecords else {
      throw .refused(archive, "it has an entry with \(HumanReadable.bytes(size)) of names and attributes")
    }
    let bytes = try bytes(size, target)
    try skipPadding(after: size, target)
    return bytes
  }

  private func skipPadding(after size: Int, _ target: UnpackedFolder) throws(PackagingError) {
    _ = try bytes((TarHeader.byteCount - size % TarHeader.byteCount) % TarHeader.byteCount, target)
  }

  /// Returns exactly `count` bytes.
  private func bytes(_ count: Int, _ target: UnpackedFolder) throws(PackagingError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count {
      let got = try stream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.all.prefix(count - bytes.count)))
      guard got > 0 else { throw damaged("it is cut short: it ends without the mark of its end") }
      bytes += buffer.all.prefix(got)
    }
    try target.count(bytes: count)
    return bytes
  }

  private func read(_ records: [UInt8], into stated: inout Stated) throws(PackagingError) {
    for record in try self.records(records) {
      switch record.key {
      case "path": stated.name = record.value
      case "size":
        guard let size = Int(String(decoding: record.value, as: UTF8.self)), size >= 0 else {
          throw damaged("it states a size that is not a number")
        }
        stated.size = size
      case "linkpath": throw .refused(archive, "it has a link", entry: record.valueText)
      case let key where key.hasPrefix("GNU.sparse"): throw .refused(archive, "it has a sparse file")
      // Times, owners and attributes are not kept.
      default: break
      }
    }
  }

  private func checkCommon(_ records: [UInt8]) throws(PackagingError) {
    for record in try self.records(records) {
      let isRefused = ["path", "size", "linkpath"].contains(record.key) || record.key.hasPrefix("GNU.sparse")
      if isRefused { throw .refused(archive, "it states '\(record.key)' for all of its entries") }
    }
  }

  private struct Record {
    let key: String
    let value: [UInt8]
    var valueText: String { String(pathBytes: value) }
  }

  /// Reads records: each is its length in decimal digits, a space, a key, `=`, a value and a line feed.
  private func records(_ bytes: [UInt8]) throws(PackagingError) -> [Record] {
    var records: [Record] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let digits = rest.prefix(10).prefix { $0 != 0x20 }
      guard let length = Int(String(decoding: digits, as: UTF8.self)), length > digits.count + 2, length <= rest.count
      else { throw damaged("it has a damaged record of an entry") }
      let record = rest.prefix(length).dropFirst(digits.count + 1)
      guard record.last == 0x0A, let equals = record.firstIndex(of: UInt8(ascii: "=")) else {
        throw damaged("it has a damaged record of an entry")
      }
      records.append(
        Record(
          key: String(decoding: record[..<equals], as: UTF8.self), value: Array(record[(equals + 1)...].dropLast())))
      rest = rest.dropFirst(length)
    }
    return records
  }

  private func damaged(_ reason: String) -> PackagingError { .damaged(archive, reason) }
}
