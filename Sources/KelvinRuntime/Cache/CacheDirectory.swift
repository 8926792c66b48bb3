import Glibc
package import KelvinGraph
import Synchronization

/// A folder of files named by what they depend on. A file is written beside its place, synced and renamed in one step,
/// so a reader finds a whole file or none. Whatever cannot be read or written is a miss, never a failure: the first
/// reason is kept in `complaint`, so that a caller can tell its user once.
package final class CacheDirectory: Sendable {
  package let path: String
  private let firstComplaint = Mutex<String?>(nil)

  package init(_ path: String) { self.path = path }

  /// `$KELVIN_CACHE_DIR`, or `kelvin` under `$XDG_CACHE_HOME` or `~/.cache`; nil where none of them is known.
  package static var standard: String? {
    func variable(_ name: String) -> String? {
      getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
    return variable("KELVIN_CACHE_DIR") ?? variable("XDG_CACHE_HOME").map { "\($0)/kelvin" }
      ?? variable("HOME").map { "\($0)/.cache/kelvin" }
  }

  /// Why the cache could not be used, the first time that happened; nil while all is well.
  package var complaint: String? { firstComplaint.withLock { $0 } }

  /// The file under a name, mapped; nil where there is none.
  package func read(_ name: String) -> Bytes? {
    do throws(FileError) { return try Bytes(mapping: "\(path)/\(name)") } catch {
      if error.code != ENOENT { complain(error.description) }
      return nil
    }
  }

  /// Puts a file in place. `name` may contain folders.
  ///
  /// - Returns: whether the file is there now.
  @discardableResult
  package func write(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> Bool {
    let target = "\(path)/\(name)"
    let folder = String(target[..<(target.lastIndex(of: "/") ?? target.endIndex)])
    var template = Array("\(folder)/.writing-XXXXXX".utf8CString)
    guard makeFolder(folder) else { return false }
    let descriptor = mkstemp(&template)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let temporary = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    guard descriptor >= 0 else {
      complain("cannot write in '\(folder)': \(String(cString: strerror(errno)))")
      return false
    }
    var isWritten = true
    for part in parts {
      var offset = 0
      while isWritten, offset < part.count {
        let count = Glibc.write(descriptor, part.baseAddress.map { $0 + offset }, part.count - offset)
        if count > 0 { offset += count } else if count < 0, errno == EINTR { continue } else { isWritten = false }
      }
    }
    isWritten = isWritten && fsync(descriptor) == 0
    let code = errno
    isWritten = close(descriptor) == 0 && isWritten && rename(temporary, target) == 0
    if !isWritten {
      complain("cannot write '\(target)': \(String(cString: strerror(code == 0 ? errno : code)))")
      unlink(temporary)
    }
    return isWritten
  }

  private func makeFolder(_ folder: String) -> Bool {
    var prefix = ""
    for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
      prefix += prefix.isEmpty && !folder.hasPrefix("/") ? "\(part)" : "/\(part)"
      if mkdir(prefix, 0o755) != 0, errno != EEXIST {
        complain("cannot create '\(prefix)': \(String(cString: strerror(errno)))")
        return false
      }
    }
    return true
  }

  private func complain(_ reason: String) {
    firstComplaint.withLock { if $0 == nil { $0 = reason } }
  }
}
