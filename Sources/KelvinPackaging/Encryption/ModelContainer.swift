import CKelvinCrypto
import Glibc
import KelvinBasics

/// The format of an encrypted model. docs/design/packaging.md describes it.
///
/// A header is followed by streams: the table of files, and then each file. A stream is a sequence of chunks, each
/// encrypted on its own with AES-256-GCM and followed by its tag. The nonce of a chunk is its place, and the key belongs
/// to this container alone.
package struct ModelContainer {
  static let magic = Array("KELVENC1".utf8)
  static let headerByteCount = 56
  static let tagByteCount = Int(KELVIN_TAG_SIZE)
  private static let saltByteCount = 32

  /// The number of plain bytes of a chunk; the last one of a stream has fewer, or as many.
  let chunkByteCount: Int
  /// The number of bytes of the table of files.
  let tableByteCount: Int
  /// The bytes of the header.
  let header: [UInt8]

  /// The sizes of chunks that are accepted.
  private static let chunkSizes = 1 << 10...1 << 24
  /// The largest table of files.
  private static let largestTable = 1 << 20

  /// Creates the header of a new container.
  init(tableByteCount: Int, chunkByteCount: Int) throws(PackagingError) {
    (self.tableByteCount, self.chunkByteCount) = (tableByteCount, chunkByteCount)
    var salt = [UInt8](repeating: 0, count: Self.saltByteCount)
    guard kelvin_random(&salt, salt.count) else { throw PackagingError(.io, "the system gives no random numbers") }
    header =
      Self.magic + bytes(UInt32(1)) + bytes(UInt32(chunkByteCount)) + bytes(UInt64(tableByteCount)) + salt
  }

  /// Reads a header. Its bytes are authenticated with the first chunk.
  ///
  /// - Throws: `PackagingError` with code `malformed`, or `unsupported` for a later version.
  init(_ header: [UInt8], file: String) throws(PackagingError) {
    guard Self.recognizes(header) else {
      throw PackagingError(.malformed, "'\(file)' is not an encrypted model; 'kelvin encrypt' makes one")
    }
    guard header.count == Self.headerByteCount else {
      throw PackagingError(.malformed, "'\(file)' is an encrypted model that was cut short; copy the file again")
    }
    let version = number(header[8..<12])
    guard version == 1 else {
      throw PackagingError(
        .unsupported, "'\(file)' is an encrypted model of version \(version), expected 1; update Kelvin")
    }
    (chunkByteCount, tableByteCount) = (number(header[12..<16]), number(header[16..<24]))
    guard Self.chunkSizes.contains(chunkByteCount), (1...Self.largestTable).contains(tableByteCount) else {
      throw PackagingError(.malformed, "'\(file)': the header of the encrypted model is damaged; copy the file again")
    }
    self.header = header
  }

  /// Whether a file begins as an encrypted model does.
  static func recognizes(_ start: [UInt8]) -> Bool { start.starts(with: magic.prefix(7)) }

  /// Returns the key of this container. It depends on every byte of the header.
  func key(_ key: ModelKey) throws(PackagingError) -> SecretBytes {
    let derived = SecretBytes()
    let (salt, purpose) = (Array(header[24...]), Array(header[..<24]))
    let isDone = key.withBytes {
      kelvin_hkdf($0, ModelKey.byteCount, salt, salt.count, purpose, purpose.count, derived.all)
    }
    guard isDone else { throw PackagingError(.io, "the key of the model cannot be derived, memory may be short") }
    return derived
  }

  /// The number of chunks of a stream. An empty stream has one, which shows its end.
  func chunkCount(_ byteCount: Int) -> Int { max(1, (byteCount + chunkByteCount - 1) / chunkByteCount) }

  /// The number of bytes of a stream in the container.
  func storedByteCount(_ byteCount: Int) -> Int { byteCount + chunkCount(byteCount) * Self.tagByteCount }

  /// The place of a chunk, which is its nonce and its bound bytes: the index of the stream, the index of the chunk, and
  /// whether it is the last one.
  static func place(stream: Int, chunk: Int, isLast: Bool) -> [UInt8] {
    bytes(UInt32(stream)) + bytes(UInt64(chunk)).prefix(7) + [isLast ? 1 : 0]
  }

  /// A file in the container.
  package struct File {
    /// The path relative to the model; empty for the model itself.
    let path: String
    let byteCount: Int

    package init(path: String, byteCount: Int) { (self.path, self.byteCount) = (path, byteCount) }
  }

  /// The table: the number of files, and for each the length of its path, the path and its size.
  package static func table(_ files: [File]) -> [UInt8] {
    bytes(UInt32(files.count))
      + files.flatMap { file in
        bytes(UInt32(file.path.utf8.count)) + Array(file.path.utf8) + bytes(UInt64(file.byteCount))
      }
  }

  /// Reads a table, which has been authenticated.
  ///
  /// - Returns: nil for a table that is not valid.
  package static func files(_ table: [UInt8]) -> [File]? {
    var rest = table[...]
    func next(_ count: Int) -> ArraySlice<UInt8>? {
      guard rest.count >= count else { return nil }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }
    guard let count = next(4).map(number), count <= table.count / 12 else { return nil }
    var files: [File] = []
    for _ in 0..<count {
      guard let length = next(4).map(number), let path = next(length), let size = next(8).map(number), size >= 0,
        size <= largestFile, let text = String(validating: path, as: UTF8.self)
      else { return nil }
      files.append(File(path: text, byteCount: size))
    }
    return rest.isEmpty && files.first?.path == "" ? files : nil
  }

  /// The largest file in a container.
  private static let largestFile = 1 << 46
}

/// Returns the bytes of a number, the lowest first.
private func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: value.littleEndian) { Array($0) }
}

/// Returns a number of at most eight bytes, the lowest first.
private func number(_ bytes: ArraySlice<UInt8>) -> Int {
  bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
}
