import Glibc
package import KelvinBasics

/// Writes a file piece by piece and replaces the existing file only once the new one is complete.
///
/// Until `finish`, the bytes are in a temporary file in the same folder. Pipes and devices (`/dev/stdout`) are written
/// directly.
package final class AtomicFileWriter {
  private let path: String
  private let descriptor: Int32
  /// The path of the temporary file; nil if the destination is written directly.
  private let temporary: String?
  /// Whether the descriptor still has to be closed by `finish` or `abandon`.
  private var isOpen = false

  /// - Throws: `FileError` with the system's reason.
  package init(_ path: String) throws(FileError) {
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

  /// Creates a writer for standard output.
  package init(standardOutput: Int32) {
    path = "standard output"
    descriptor = standardOutput
    temporary = nil
    isOpen = true
  }

  deinit { abandon() }

  package func write(_ bytes: [UInt8]) throws(FileError) {
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

  /// Moves the temporary file to its destination.
  ///
  /// - Parameter other: a destination other than the path given to the initializer.
  /// - Throws: `FileError`. The existing file is then unchanged.
  package func finish(as other: String? = nil) throws(FileError) {
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

  /// Closes and removes the temporary file. The existing file stays unchanged.
  package func abandon() {
    guard isOpen else { return }
    isOpen = false
    if descriptor != STDOUT_FILENO { close(descriptor) }
    if let temporary { unlink(temporary.pathBytes) }
  }
}
