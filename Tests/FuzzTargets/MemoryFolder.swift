import FoundationEssentials
import Glibc

/// A folder in memory that is removed with the process.
enum MemoryFolder {
  private static let root: String = {
    let path = "/dev/shm/kelvin-fuzz-\(getpid())"
    mkdir(path, 0o700)
    atexit { try? FileManager.default.removeItem(atPath: MemoryFolder.root) }
    return path
  }()

  /// A folder below it, made where it is missing.
  static func path(_ name: String) -> String {
    var path = root
    for part in name.split(separator: "/") {
      path += "/\(part)"
      mkdir(path, 0o700)
    }
    return path
  }

  static func remove(_ paths: [String]) {
    for path in paths { unlink(path) }
  }

  static func link(_ path: String, to target: String) { symlink(target, path) }

  static func write(_ bytes: UnsafeRawBufferPointer, to path: String) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = Glibc.write(file, bytes.baseAddress, bytes.count)
    close(file)
  }
}
