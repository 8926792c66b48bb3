import CKelvinCrypto
import FoundationEssentials
import Glibc
import KelvinBasics

/// Decrypts a model into memory.
struct ContainerReader {
  private let file: OpenFile
  private let container: ModelContainer
  private let key: SecretBytes

  /// Reads the header.
  ///
  /// - Throws: `PackagingError` with code `malformed` or `unsupported` for a file that is not an encrypted model.
  init(_ file: OpenFile, key: () throws(PackagingError) -> ModelKey) throws(PackagingError) {
    let start = try file.bytes(min(ModelContainer.headerByteCount, file.byteCount), at: 0)
    container = try ModelContainer(start, file: file.path)
    self.file = file
    // The key is asked for only if it is needed.
    self.key = try container.key(try key())
  }

  /// Returns the files by their paths relative to the model; the model itself has an empty path.
  ///
  /// - Throws: `PackagingError` with code `key` if the key does not match or the beginning is damaged, and `malformed`
  ///   for damage elsewhere.
  func files() throws(PackagingError) -> [(path: String, bytes: Data)] {
    let streams = container.storedByteCount(container.tableByteCount)
    guard ModelContainer.headerByteCount + streams <= file.byteCount else { throw mismatch }
    let table = try stream(0, container.tableByteCount, at: ModelContainer.headerByteCount)
    guard let files = ModelContainer.files([UInt8](table)) else {
      throw PackagingError(.malformed, "'\(file.path)': the table of its files is not valid; encrypt the model again")
    }
    // The sizes are compared with the file before memory is allocated for them.
    var end = ModelContainer.headerByteCount + streams
    for each in files { end += container.storedByteCount(each.byteCount) }
    guard end == file.byteCount else {
      throw PackagingError(
        .malformed,
        "'\(file.path)' has \(file.byteCount) bytes, expected \(end): it was cut short or extended; copy it again")
    }
    guard WorkBudget.current?.admits(bytes: end) ?? true else {
      throw PackagingError(.refused, "'\(file.path)' needs \(HumanReadable.bytes(end)) of memory, beyond the limit")
    }
    var offset = ModelContainer.headerByteCount + streams
    var found: [(path: String, bytes: Data)] = []
    for (index, each) in files.enumerated() {
      found.append((each.path, try stream(index + 1, each.byteCount, at: offset)))
      offset += container.storedByteCount(each.byteCount)
    }
    return found
  }

  private func stream(_ index: Int, _ byteCount: Int, at start: Int) throws(PackagingError) -> Data {
    var plain = Data(count: byteCount)
    let chunks = container.chunkCount(byteCount)
    var (offset, done) = (start, 0)
    for chunk in 0..<chunks {
      let count = min(container.chunkByteCount, byteCount - done)
      let stored = try file.bytes(count + ModelContainer.tagByteCount, at: offset)
      let place = ModelContainer.place(stream: index, chunk: chunk, isLast: chunk == chunks - 1)
      let isAuthentic = plain.withUnsafeMutableBytes { target in
        stored.withUnsafeBufferPointer { stored in
          guard let base = stored.baseAddress else { return false }
          return kelvin_gcm_open(
            key.all, place, place, place.count, base, count, target.baseAddress.map { $0 + done }, base + count)
        }
      }
      guard isAuthentic else {
        // Decrypted chunks of a damaged file are not kept.
        plain.withUnsafeMutableBytes { $0.wipe() }
        throw index == 0 && chunk == 0 ? mismatch : damaged(index, chunk, chunks)
      }
      offset += stored.count
      done += count
    }
    return plain
  }

  /// The error of the first chunk. A wrong key and damage are not told apart, because the difference would help to try
  /// keys.
  private var mismatch: PackagingError {
    PackagingError(.key, "'\(file.path)': the key does not match, or the file is damaged; check both")
  }

  private func damaged(_ stream: Int, _ chunk: Int, _ chunks: Int) -> PackagingError {
    PackagingError(
      .malformed,
      "'\(file.path)': chunk \(chunk + 1) of \(chunks) of \(stream == 0 ? "the table" : "file \(stream)") is damaged or "
        + "exchanged; copy the file again")
  }
}
