import Glibc
package import KelvinDevices
package import KelvinGraph
import Synchronization

/// What compiling leaves behind for later processes: packed weights and devices' blobs, under names made from
/// everything they depend on.
package final class CompiledCache: Sendable {
  package let directory: CacheDirectory
  private let kelvinVersion: String

  package init(_ directory: CacheDirectory, kelvinVersion: String) {
    self.directory = directory
    self.kelvinVersion = kelvinVersion
  }

  /// The key of a model's contents. A file's hash is remembered under its device, inode, size and modification time,
  /// so that a warm start reads no weights.
  ///
  /// - Throws: `FileError` for a file that cannot be read.
  package func modelKey(_ files: [String]) throws(FileError) -> ContentKey {
    var parts: [String] = []
    for file in files {
      var status = stat()
      guard stat(file, &status) == 0 else { throw FileError(path: file, action: "examine", code: errno) }
      let time = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
      let identity = ContentKey(["\(status.st_dev)", "\(status.st_ino)", "\(status.st_size)", time])
      let name = "sources/\(identity)"
      if let known = directory.read(name), known.count == 32 {
        parts.append(known.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        continue
      }
      let hash = ContentKey(try Bytes(mapping: file)).description
      Array(hash.utf8).withUnsafeBytes { _ = directory.write(name, [$0]) }
      parts.append(hash)
    }
    return ContentKey(parts)
  }

  /// The packed weights of one function of a model on one device.
  package func weights(_ model: ContentKey, function: String, device: DeviceInfo, precision: Precision) -> CachedWeights {
    let key = ContentKey([model.description, function, precision.rawValue] + environment(device))
    return CachedWeights(directory, "models/\(model)/\(key).pack")
  }

  /// A device's small results, good for every model.
  package func blobs(_ device: DeviceInfo) -> any BlobCache {
    CachedBlobs(directory, "blobs/\(ContentKey(environment(device)))")
  }

  private func environment(_ device: DeviceInfo) -> [String] {
    [kelvinVersion, device.id, device.name, device.driver, device.version]
  }
}

/// Packed weights that a file keeps between processes.
package final class CachedWeights: PackedWeights {
  private let directory: CacheDirectory
  private let name: String
  private let file: PackFile?
  private let made = Mutex<[String: Bytes]>([:])
  private let used = Mutex<[String: Bytes]>([:])

  init(_ directory: CacheDirectory, _ name: String) {
    self.directory = directory
    self.name = name
    file = directory.read(name).flatMap { PackFile($0) }
  }

  package func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    if let bytes = made.withLock({ $0[key] }), bytes.count == byteCount { return bytes }
    if let bytes = file?[key], bytes.count == byteCount {
      used.withLock { $0[key] = bytes }
      return bytes
    }
    let bytes = try Bytes(count: byteCount, fill: fill)
    made.withLock { $0[key] = bytes }
    return bytes
  }

  /// How many weights were packed in this process rather than found in the cache.
  package var packedCount: Int { made.withLock { $0.count } }

  /// Writes the file anew where this process packed something that it lacks.
  package func save() {
    let new = made.withLock { $0 }
    guard !new.isEmpty else { return }
    PackFile.write(used.withLock { $0 }.merging(new) { _, new in new }, to: directory, name)
  }
}

/// Blobs as files, each with its hash in front.
private final class CachedBlobs: BlobCache {
  private let directory: CacheDirectory
  private let folder: String

  init(_ directory: CacheDirectory, _ folder: String) {
    self.directory = directory
    self.folder = folder
  }

  func blob(_ key: String) -> Bytes? {
    guard let file = directory.read("\(folder)/\(ContentKey([key]))"), file.count >= 32,
      let hash = file.slice(offset: 0, count: 32), let contents = file.slice(offset: 32, count: file.count - 32),
      hash.withUnsafeBytes({ Array($0) }) == Array(ContentKey(contents).description.utf8)
    else { return nil }
    return contents
  }

  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let hash = Array(ContentKey(bytes).description.utf8)
    hash.withUnsafeBytes { _ = directory.write("\(folder)/\(ContentKey([key]))", [$0, bytes]) }
  }
}
