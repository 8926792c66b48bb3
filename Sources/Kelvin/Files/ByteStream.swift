import Glibc
package import KelvinBasics
package import KelvinRuntime

/// A sequential reader of a file, a pipe or standard input.
package final class ByteStream {
  /// The name that error messages use.
  package let name: String
  /// The file's size in bytes; nil for pipes and devices.
  package let byteCount: Int?
  /// The number of bytes read so far.
  package private(set) var position = 0
  private let descriptor: Int32
  private let identity: (device: UInt64, inode: UInt64)

  /// - Throws: `FileError` with the system's reason, also for a folder.
  package convenience init(_ path: String) throws(FileError) {
    let descriptor = open(path.pathBytes, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
    try self.init(descriptor, name: path)
  }

  /// - Parameter descriptor: closed by this value, unless it is standard input.
  package init(_ descriptor: Int32, name: String) throws(FileError) {
    self.name = name
    self.descriptor = descriptor
    var status = stat()
    let code = fstat(descriptor, &status) == 0 ? 0 : errno
    let kind = status.st_mode & S_IFMT
    byteCount = code == 0 && kind == S_IFREG ? Int(status.st_size) : nil
    identity = (UInt64(status.st_dev), UInt64(status.st_ino))
    // From here on `deinit` closes the descriptor, also when the initializer throws.
    guard code == 0 else { throw FileError(path: name, action: "read", code: code) }
    guard kind != S_IFDIR else { throw FileError(path: name, action: "read", code: EISDIR) }
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// - Parameter cancellation: ends the wait for more bytes of a pipe.
  /// - Returns: the number of bytes read; 0 at the end.
  /// - Throws: `FileError`; `RuntimeError.cancelled`.
  package func read(_ buffer: UnsafeMutableRawBufferPointer, _ cancellation: Cancellation? = nil) throws -> Int {
    while true {
      if byteCount == nil, let cancellation {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&waited, 1, Self.pollInterval) == 0 { try cancellation.check() }
      }
      let got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw FileError(path: name, action: "read", code: errno) }
      position += got
      return got
    }
  }

  /// Milliseconds between two checks of the cancellation.
  private static let pollInterval: Int32 = 100

  /// Returns whether the stream reads the regular file at `path`, compared by device and inode.
  package func isFile(_ path: String) -> Bool {
    var status = stat()
    return byteCount != nil && stat(path.pathBytes, &status) == 0
      && (UInt64(status.st_dev), UInt64(status.st_ino)) == identity
  }
}
