import KelvinDevices
import KelvinGraph

/// Blobs as sealed files: what a driver is given is what this user's Kelvin kept under the same key.
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
