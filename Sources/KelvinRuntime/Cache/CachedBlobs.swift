import KelvinDevices
import KelvinGraph

/// Blobs as files, each with its hash in front.
final class CachedBlobs: BlobCache {
  private let directory: CacheDirectory
  private let folder: String

  init(_ directory: CacheDirectory, _ folder: String) {
    self.directory = directory
    self.folder = folder
  }

  func blob(_ key: String) -> Bytes? { directory.readChecked("\(folder)/\(ContentKey([key]))") }

  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    directory.writeChecked("\(folder)/\(ContentKey([key]))", bytes)
  }
}

extension CacheDirectory {
  /// The contents that `writeChecked` put under a name; nil where there are none or they do not match their hash.
  func readChecked(_ name: String) -> Bytes? {
    guard let file = read(name), file.count >= 32,
      let hash = file.slice(offset: 0, count: 32), let contents = file.slice(offset: 32, count: file.count - 32),
      hash.withUnsafeBytes({ Array($0) }) == Array(ContentKey(contents).description.utf8)
    else { return nil }
    return contents
  }

  /// Puts contents in place behind their hash.
  func writeChecked(_ name: String, _ bytes: UnsafeRawBufferPointer) {
    let hash = Array(ContentKey(bytes).description.utf8)
    hash.withUnsafeBytes { _ = write(name, [$0, bytes]) }
  }
}
