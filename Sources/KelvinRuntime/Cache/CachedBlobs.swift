import KelvinDevices
import KelvinGraph

/// Blobs as sealed files: a driver only receives a blob that this user's Kelvin stored under the same key.
final class CachedBlobs: BlobCache {
  private let directory: CacheDirectory
  private let folder: String

  init(_ directory: CacheDirectory, _ folder: String) {
    self.directory = directory
    self.folder = folder
  }

  func blob(_ key: String) -> Bytes? { directory.readSealed("\(folder)/\(ContentKey([key]))") }

  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    directory.writeSealed("\(folder)/\(ContentKey([key]))", bytes)
  }
}
