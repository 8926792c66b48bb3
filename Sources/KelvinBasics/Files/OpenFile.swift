import Glibc

/// A regular file that is open for reading: what is learned of it and what is read are of one file, whatever its path
/// comes to name meanwhile. Closed with the last reference.
package final class OpenFile: Sendable {
  /// The file as errors name it.
  package let path: String
  /// As it was when it was opened.
  package let state: FileState
  private let descriptor: Int32

  /// Opens a file by a path of the user's own, whose links are followed. Neither a pipe without a writer nor a device
  /// is waited for.
  ///
  /// - Throws: `FileError` with the system's reason, also for what is no regular file.
  package convenience init(_ path: String) throws(FileError) {
    let descriptor = open(path.pathBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
    try self.init(descriptor: descriptor, path: path)
  }

  /// - Parameter descriptor: closed by this value, or before the error is thrown.
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
  /// - Throws: `FileError`, also where the file ends before: it has become shorter.
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

  /// The file's first bytes: `count`, or as many as it has.
  package func start(_ count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: min(count, byteCount))
    var failure: FileError?
    bytes.withUnsafeMutableBytes { target in
      do throws(FileError) { try read(into: target) } catch { failure = error }
    }
    if let failure { throw failure }
    return bytes
  }

  /// All of the file, and the state that it was read in.
  ///
  /// - Parameters:
  ///   - target: `byteCount` bytes.
  /// - Throws: `FileError`, also where it was written to all the while, or has become another size.
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

  /// How often a file is read that changes meanwhile.
  private static let mostReadings = 4

  /// Maps all of a file that is not empty.
  package func map() throws(FileError) -> UnsafeMutableRawPointer {
    guard let base = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
      throw FileError(path: path, action: "map", code: errno)
    }
    return base
  }

  /// The state that the file is in now.
  package func currentState() throws(FileError) -> FileState { try FileState(descriptor, path: path) }

  package func resized(to count: Int) -> FileError {
    FileError(
      path: path, action: "use",
      reason: "it had \(byteCount) bytes when it was opened and now has \(count); load it again when it is whole")
  }
}
