import Glibc
import KelvinBasics

/// A file that is written bit by bit, and in place of what was there only when it is whole.
///
/// Until then it lies beside it under another name. A pipe or a device (`/dev/stdout`) is written to as it is.
final class AtomicFileWriter {
  private let path: String
  private let descriptor: Int32
  /// Where it lies meanwhile; nil for what is written in place.
  private let temporary: String?
  /// Whether there is something to put in place or to give up.
  private var isOpen = false

  /// - Throws: `FileError` with the system's reason.
  init(_ path: String) throws(FileError) {
    self.path = path
    var status = stat()
    let isThere = stat(path.pathBytes, &status) == 0
    if isThere, status.st_mode & S_IFMT != S_IFREG, status.st_mode & S_IFMT != S_IFDIR {
      temporary = nil
      descriptor = open(path.pathBytes, O_WRONLY | O_CLOEXEC)
    } else if isThere, status.st_mode & S_IFMT == S_IFDIR {
      throw FileError(path: path, action: "write", code: EISDIR)
    } else {
      let temporary = "\(path).writing-\(getpid())"
      self.temporary = temporary
      descriptor = open(temporary.pathBytes, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    }
    guard descriptor >= 0 else { throw FileError(path: path, action: "write", code: errno) }
    isOpen = true
  }

  /// Standard output.
  init(standardOutput: Int32) {
    path = "standard output"
    descriptor = standardOutput
    temporary = nil
    isOpen = true
  }

  deinit { abandon() }

  func write(_ bytes: [UInt8]) throws(FileError) {
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes { raw in
        Glibc.write(descriptor, raw.baseAddress.map { $0 + offset }, bytes.count - offset)
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw FileError(path: path, action: "write", code: count == 0 ? ENOSPC : errno) }
      offset += count
    }
  }

  /// Puts the file in place.
  ///
  /// - Parameter other: another path to put it at.
  /// - Throws: `FileError`; what was there before is there still.
  func finish(as other: String? = nil) throws(FileError) {
    guard isOpen else { return }
    if temporary != nil, fsync(descriptor) != 0, errno != EINVAL {
      let code = errno
      abandon()
      throw FileError(path: path, action: "write", code: code)
    }
    isOpen = false
    let isClosed = descriptor == STDOUT_FILENO || close(descriptor) == 0
    guard let temporary else {
      guard isClosed else { throw FileError(path: path, action: "write", code: errno) }
      return
    }
    guard isClosed, rename(temporary.pathBytes, (other ?? path).pathBytes) == 0 else {
      let code = errno
      unlink(temporary.pathBytes)
      throw FileError(path: other ?? path, action: "write", code: code)
    }
  }

  /// Leaves what was there before, and nothing else.
  func abandon() {
    guard isOpen else { return }
    isOpen = false
    if descriptor != STDOUT_FILENO { close(descriptor) }
    if let temporary { unlink(temporary.pathBytes) }
  }
}
