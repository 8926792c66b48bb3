import Glibc

/// A regular file that is open for reading. Its state and its contents always belong to the same file, even if its
/// path names another file later. It is closed with the last reference.
package final class OpenFile: Sendable {
  /// The path for error messages.
  package let path: String
  /// The state of the file when it was opened.
  package let state: FileState
  /// The open file, which this object closes.
  package let descriptor: Int32

  /// Opens a file by a path from the user, whose links are followed. Opening does not block on a pipe without a
  /// writer or on a device.
  ///
  /// - Throws: `FileError` with the system's reason, or if it is not a regular file.
  package convenience init(_ path: String) throws(FileError) {
    let descriptor: Int32
    if let broker = FileBrokers.current {
      do throws(FolderDescent.Failure) {
        descriptor = try broker.open(path, below: nil, flags: O_RDONLY | O_NONBLOCK, followsLinks: true)
      } catch { throw FileError(path: path, action: "open", reason: error.description) }
    } else {
      descriptor = open(path.pathBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
    }
    try self.init(descriptor: descriptor, path: path)
  }

  /// - Parameter descriptor: closed by this object, or before an error is thrown.
  package init(descriptor: Int32, path: String) throws(FileError) {
    do throws(FileError) {
      state = try FileState(descriptor, path: path)
      guard state.isRegular else { throw FileError(path: path, action: "read", reason: state.kind) }
    } catch {
      close(descriptor)
      throw error
    }
    self.path = path
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  package var byteCount: Int { state.byteCount }

  /// Fills `target` with the file's bytes from `offset` on.
  ///
  /// - Throws: `FileError`, also if the file has become too short.
  package func read(into target: UnsafeMutableRawBufferPointer, at offset: Int = 0) throws(FileError) {
    var done = 0
    while done < target.count {
      let got = pread(descriptor, target.baseAddress.map { $0 + done }, target.count - done, off_t(offset + done))
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw FileError(path: path, action: "read", code: errno) }
      guard got > 0 else {
        throw FileError(
          path: path, action: "read",
          reason: "it ended after \(offset + done) of \(byteCount) bytes: it was cut short while it was read")
      }
      done += got
    }
  }

  /// Returns the file's first `count` bytes, or all if it has fewer.
  package func start(_ count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(count, byteCount))
    var failure: FileError?
    bytes.withUnsafeMutableBytes { target in
      do throws(FileError) { try read(into: target) } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads the whole file and returns the state that it was read in.
  ///
  /// - Parameter target: a buffer of `byteCount` bytes.
  /// - Throws: `FileError`, also if the file kept changing, or changed its size.
  package func readWhole(into target: UnsafeMutableRawBufferPointer) throws(FileError) -> FileState {
    var before = try currentState()
    for _ in 0..<Self.mostReadings {
      guard before.byteCount == byteCount else { throw resized(to: before.byteCount) }
      try read(into: target)
      let after = try currentState()
      if after == before { return after }
      before = after
    }
    throw FileError(path: path, action: "read", reason: "it was written to while it was read; try again")
  }

  /// The maximum number of attempts to read a file that changes meanwhile.
  private static let mostReadings = 4

  /// Maps the whole file, which must not be empty.
  package func map() throws(FileError) -> UnsafeMutableRawPointer {
    guard let base = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
      throw FileError(path: path, action: "map", code: errno)
    }
    return base
  }

  /// Returns the current state of the file.
  package func currentState() throws(FileError) -> FileState { try FileState(descriptor, path: path) }

  package func resized(to count: Int) -> FileError {
    FileError(
      path: path, action: "use",
      reason: "it had \(byteCount) bytes when it was opened and now has \(count); load it again when it is whole")
  }
}
