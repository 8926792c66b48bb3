import CKelvinSupport
import Glibc
import KelvinBasics
package import KelvinGraph

/// A ZIP file that contains one model, such as a compressed package. It is unpacked in memory.
///
/// Reference: APPNOTE.TXT, "ZIP File Format Specification", version 6.3.10, sections 4.3 to 4.5.
package struct ModelArchive {
  private struct Entry {
    var path: String
    var isEncrypted: Bool
    var method: Int
    var checksum: UInt32
    var packed: Int
    var size: Int
    /// The offset of the entry's own header.
    var offset: Int
  }

  private let bytes: Bytes
  private let file: String
  private let entries: [Entry]

  /// The largest number of entries; a model's package has fewer than ten.
  private static let entryLimit = 10_000
  /// Archives may unpack to this many bytes, or to this multiple of their own size.
  private static let (sizeLimit, ratioLimit) = (1 << 30, 20)
  /// The largest ratio of DEFLATE: 258 bytes from two bits. No memory is allocated for a size beyond it.
  private static let largestRatio = 1032

  /// Returns whether a file begins as a ZIP file does.
  package static func recognizes(_ bytes: Bytes) -> Bool {
    bytes.count >= 22 && bytes.withUnsafeBytes { $0.starts(with: [0x50, 0x4b, 0x03, 0x04]) }
  }

  /// Reads the list of entries.
  ///
  /// - Parameter file: the archive's name in errors.
  /// - Throws: `FormatError`: `malformed` for a damaged archive, `unsupported` for one of more than 4 GiB.
  package init(_ bytes: Bytes, file: String) throws(FormatError) {
    (self.bytes, self.file) = (bytes, file)
    entries = try bytes.withUnsafeBytes { (bytes) throws(FormatError) in try Self.entries(bytes, file) }
  }

  private static func entries(_ bytes: UnsafeRawBufferPointer, _ file: String) throws(FormatError) -> [Entry] {
    func damaged(_ reason: String) -> FormatError {
      FormatError(.malformed, file: file, "\(reason); the archive may be cut short", remedy: "download it again")
    }
    // The directory's end is followed by a comment of at most 65,535 bytes.
    let last = bytes.count - 22
    let end = stride(from: last, through: max(last - 0xffff, 0), by: -1).first {
      bytes.number(at: $0, 4) == 0x0605_4b50
    }
    guard let end else { throw damaged("it has no directory of its files") }
    let (count, start) = (bytes.number(at: end + 10, 2), bytes.number(at: end + 16, 4))
    guard count != 0xffff, start != 0xffff_ffff else {
      throw FormatError(
        .unsupported, file: file, "it is an archive of more than 4 GiB or 65,534 files", remedy: "unpack it first")
    }
    guard count <= entryLimit else {
      throw FormatError(
        .unsupported, file: file, "it has \(count) files, expected at most \(entryLimit)", remedy: "unpack it first")
    }
    var entries: [Entry] = []
    var (at, names) = (start, Set<String>())
    for _ in 0..<count {
      guard at + 46 <= bytes.count, bytes.number(at: at, 4) == 0x0201_4b50 else {
        throw damaged("its directory has no entry at byte \(at)")
      }
      let (name, extra, comment) = (
        bytes.number(at: at + 28, 2), bytes.number(at: at + 30, 2), bytes.number(at: at + 32, 2)
      )
      guard at + 46 + name + extra + comment <= bytes.count else { throw damaged("its directory ends inside an entry") }
      let entry = Entry(
        path: String(decoding: bytes[at + 46..<at + 46 + name], as: UTF8.self),
        isEncrypted: bytes.number(at: at + 8, 2) & 1 == 1, method: bytes.number(at: at + 10, 2),
        checksum: UInt32(bytes.number(at: at + 16, 4)), packed: bytes.number(at: at + 20, 4),
        size: bytes.number(at: at + 24, 4), offset: bytes.number(at: at + 42, 4))
      guard names.insert(entry.path).inserted else { throw damaged("it has two files '\(entry.path)'") }
      entries.append(entry)
      at += 46 + name + extra + comment
    }
    return entries
  }

  /// Unpacks the model and the files beside it.
  ///
  /// - Throws: `FormatError`: `malformed` for a damaged archive; `unsupported` if it does not contain exactly one model,
  ///   is encrypted, or unpacks to far more than its own size.
  package func model() throws(FormatError) -> MemoryFiles {
    // Archives that macOS makes have a second file with attributes for each file.
    let files = entries.filter { !$0.path.hasSuffix("/") && !$0.path.hasPrefix("__MACOSX/") }
    let models = files.filter { $0.path.hasExtension("mlmodel") || $0.path.hasExtension("onnx") }
    guard models.count == 1 else {
      let found = models.isEmpty ? "none" : models.prefix(3).map(\.path).joined(separator: ", ")
      throw FormatError(
        .unsupported, file: file, "expected one model in the archive, found \(found)", remedy: "unpack it first")
    }
    let folder = models[0].path.parentPath
    let prefix = folder.isEmpty || folder == "." ? "" : "\(folder)/"
    let needed = files.filter { $0.path.hasPrefix(prefix) }
    let size = needed.reduce(0) { $0 + $1.size }
    guard size <= max(Self.sizeLimit, bytes.count * Self.ratioLimit), WorkBudget.current?.admits(bytes: size) ?? true
    else {
      throw FormatError(
        .unsupported, file: file, "it unpacks from \(HumanReadable.bytes(bytes.count)) to \(HumanReadable.bytes(size))",
        remedy: "unpack it first, if you trust it")
    }
    var unpacked: [String: Bytes] = [:]
    for entry in needed where entry.path != models[0].path {
      let relative = String(entry.path.dropFirst(prefix.count))
      unpacked[relative] = try contents(of: entry, named: "\(MemoryFiles.folder)/\(relative)")
    }
    return MemoryFiles(model: try contents(of: models[0], named: MemoryFiles.modelPath), files: unpacked)
  }

  private func contents(of entry: Entry, named path: String) throws(FormatError) -> Bytes {
    try bytes.withUnsafeBytes { (bytes) throws(FormatError) in
      func damaged(_ reason: String) -> FormatError {
        FormatError(.malformed, file: file, place: entry.path, reason, remedy: "download the archive again")
      }
      guard !entry.isEncrypted else {
        throw FormatError(.unsupported, file: file, place: entry.path, "it is encrypted", remedy: "unpack it first")
      }
      guard entry.offset + 30 <= bytes.count, bytes.number(at: entry.offset, 4) == 0x0403_4b50 else {
        throw damaged("it has no header at byte \(entry.offset)")
      }
      let start =
        entry.offset + 30 + bytes.number(at: entry.offset + 26, 2) + bytes.number(at: entry.offset + 28, 2)
      guard start + entry.packed <= bytes.count else { throw damaged("it ends beyond the archive") }
      guard entry.size <= entry.packed * Self.largestRatio else {
        throw damaged("its \(entry.packed) bytes cannot unpack to \(entry.size)")
      }
      let packed = UnsafeRawBufferPointer(rebasing: bytes[start..<start + entry.packed])
      let contents = try Bytes(count: entry.size, named: path) { (target) throws(FormatError) in
        switch entry.method {
        case 0:
          guard packed.count == target.count else { throw damaged("its two sizes differ") }
          target.copyMemory(from: packed)
        case 8:
          let result = kelvin_inflate(packed.baseAddress, packed.count, 1, target.baseAddress, target.count)
          guard result != KELVIN_INFLATE_NO_MEMORY else {
            throw FormatError(FileError(path: file, action: "unpack", code: ENOMEM))
          }
          guard result == KELVIN_INFLATED else { throw damaged("its compressed bytes are damaged") }
        default:
          throw FormatError(
            .unsupported, file: file, place: entry.path, "it is compressed by method \(entry.method)",
            remedy: "expected 'stored' or 'deflated'; unpack it first")
        }
      }
      guard contents.withUnsafeBytes({ kelvin_crc32($0.baseAddress, $0.count) }) == entry.checksum else {
        throw damaged("its checksum differs")
      }
      return contents
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Returns a little-endian number of `count` bytes, which must lie inside the buffer.
  fileprivate func number(at offset: Int, _ count: Int) -> Int {
    (0..<count).reduce(0) { $0 | Int(self[offset + $1]) << (8 * $1) }
  }
}
