import Glibc
package import KelvinGraph
import Synchronization

/// A folder of files named by what they depend on. A file is written beside its place, synced and renamed in one step,
/// so a reader finds a whole file or none. Whatever cannot be read or written is a miss, never a failure: the first
/// reason is kept in `complaint`, so that a caller can tell its user once.
package final class CacheDirectory: Sendable {
  package let path: String
  private let firstComplaint = Mutex<String?>(nil)
  private let isSwept = Mutex(false)
  private static let temporaryPrefix = ".writing-"

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
      if error.code != ENOENT { complain(error) }
      return nil
    }
  }

  /// Puts a file in place. `name` may contain folders.
  ///
  /// - Returns: whether the file is there now.
  @discardableResult
  package func write(_ name: String, _ parts: [UnsafeRawBufferPointer]) -> Bool {
    do throws(FileError) {
      let target = "\(path)/\(name)"
      let folder = Self.folder(of: target)
      try makeFolder(folder)
      sweepOnce()
      try Self.replace(target, in: folder, with: parts)
      return true
    } catch {
      complain(error)
      return false
    }
  }

  /// Runs `body` while no other process or thread runs one for the same name. Where no lock can be had, `body` runs all
  /// the same: a later write then replaces an earlier one whole.
  package func locking<Result, Failure: Error>(
    _ name: String, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let file = "\(path)/\(name).lock"
    var descriptor: Int32 = -1
    do throws(FileError) {
      try makeFolder(Self.folder(of: file))
      descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      if descriptor < 0 { throw FileError(path: file, action: "open", code: errno) }
      while flock(descriptor, LOCK_EX) != 0 {
        let code = errno
        if code != EINTR { throw FileError(path: file, action: "lock", code: code) }
      }
    } catch { complain(error) }
    defer { if descriptor >= 0 { close(descriptor) } }
    return try body()
  }

  private static func folder(of file: String) -> String { String(file[..<(file.lastIndex(of: "/") ?? file.endIndex)]) }

  private static func replace(
    _ target: String, in folder: String, with parts: [UnsafeRawBufferPointer]
  ) throws(FileError) {
    var template = Array("\(folder)/\(temporaryPrefix)XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw FileError(path: folder, action: "write in", code: errno) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    let temporary = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    var failure: Int32?
    /// Notes the reason of the first call that failed.
    func check(_ isDone: Bool) {
      if !isDone, failure == nil { failure = errno }
    }
    for part in parts {
      var offset = 0
      while failure == nil, offset < part.count {
        let count = Glibc.write(descriptor, part.baseAddress.map { $0 + offset }, part.count - offset)
        if count < 0, errno == EINTR { continue }
        check(count > 0)
        offset += max(count, 0)
      }
    }
    if failure == nil { check(fsync(descriptor) == 0) }
    check(close(descriptor) == 0)
    if failure == nil { check(rename(temporary, target) == 0) }
    if let failure {
      unlink(temporary)
      throw FileError(path: target, action: "write", code: failure)
    }
    // The file is in place whether or not the folder can be synced.
    let entry = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if entry >= 0 {
      fsync(entry)
      close(entry)
    }
  }

  private func makeFolder(_ folder: String) throws(FileError) {
    var prefix = ""
    for part in folder.split(separator: "/", omittingEmptySubsequences: true) {
      prefix += prefix.isEmpty && !folder.hasPrefix("/") ? "\(part)" : "/\(part)"
      if mkdir(prefix, 0o755) != 0 {
        let code = errno
        if code != EEXIST { throw FileError(path: prefix, action: "create", code: code) }
      }
    }
  }

  /// Removes what processes that were ended amid a write left behind, at this directory's first write.
  private func sweepOnce() {
    let isFirst = isSwept.withLock { isSwept in
      defer { isSwept = true }
      return !isSwept
    }
    if isFirst { sweep(path, before: time(nil) - 3600, depth: 3) }
  }

  private func sweep(_ folder: String, before limit: time_t, depth: Int) {
    guard let stream = opendir(folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name == "." || name == ".." { continue }
      let file = "\(folder)/\(name)"
      var status = stat()
      guard lstat(file, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR {
        if depth > 1 { sweep(file, before: limit, depth: depth - 1) }
      } else if name.hasPrefix(Self.temporaryPrefix), status.st_mtim.tv_sec < limit {
        unlink(file)
      }
    }
  }

  private func complain(_ reason: FileError) {
    firstComplaint.withLock { if $0 == nil { $0 = reason.description } }
  }
}
