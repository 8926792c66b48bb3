import Glibc
import KelvinBasics

/// A regular file that is open for reading: what is learned of it and what is read are of one file, whatever its path
/// comes to name meanwhile. Closed with the last reference.
package final class OpenFile: Sendable {
  /// The file as errors name it.
  package let path: String
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

  /// Maps all of a file that is not empty.
  func map() throws(FileError) -> UnsafeMutableRawPointer {
    guard let base = mmap(nil, byteCount, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
      throw FileError(path: path, action: "map", code: errno)
    }
    return base
  }

  /// - Throws: `FileError` where the file's size or the time of its last change is no longer what it was.
  package func checkUnchanged() throws(FileError) { try state.check(against: FileState(descriptor, path: path)) }
}

/// What tells one state of a file from another without reading it.
package struct FileState: Sendable, Hashable {
  package let path: String
  private let device: UInt
  private let inode: UInt
  private let mode: UInt32
  private let modified: Int
  private let modifiedNanoseconds: Int
  package let byteCount: Int
  /// Names that the file has.
  package let linkCount: Int

  init(_ descriptor: Int32, path: String) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    self.init(status, path)
  }

  private init(_ status: stat, _ path: String) {
    self.path = path
    device = UInt(status.st_dev)
    inode = UInt(status.st_ino)
    mode = UInt32(status.st_mode)
    modified = status.st_mtim.tv_sec
    modifiedNanoseconds = status.st_mtim.tv_nsec
    byteCount = Int(status.st_size)
    linkCount = Int(status.st_nlink)
  }

  var isRegular: Bool { mode & S_IFMT == S_IFREG }

  /// What it is where it is no regular file.
  var kind: String {
    switch mode & S_IFMT {
    case S_IFDIR: "it is a folder, not a file"
    case S_IFIFO: "it is a pipe, not a regular file"
    case S_IFSOCK: "it is a socket, not a regular file"
    case S_IFCHR, S_IFBLK: "it is a device, not a regular file"
    default: "it is not a regular file"
    }
  }

  /// - Throws: `FileError` where the path no longer names this file in this state.
  package func checkInPlace() throws(FileError) {
    var status = stat()
    guard stat(path.pathBytes, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    let now = FileState(status, path)
    guard now.device == device, now.inode == inode else {
      throw FileError(path: path, action: "use", reason: "another file took its place while it was read; try again")
    }
    try check(against: now)
  }

  fileprivate func check(against now: FileState) throws(FileError) {
    guard now.byteCount == byteCount else {
      throw FileError(
        path: path, action: "use",
        reason:
          "it had \(byteCount) bytes when it was opened and now has \(now.byteCount); load it again when it is whole")
    }
    guard now.modified == modified, now.modifiedNanoseconds == modifiedNanoseconds else {
      throw FileError(
        path: path, action: "use", reason: "it was written to after it was opened; load it again when it is whole")
    }
  }
}
