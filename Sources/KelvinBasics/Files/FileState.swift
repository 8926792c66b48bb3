package import Glibc

/// What tells one state of a file from another without reading it: which file it is, its size, and when its contents and
/// whatever the system keeps about it last changed.
///
/// Two equal states have the same contents, as finely as the file's system tells times: a change within one step of its
/// clock, at most some milliseconds on a disk of one's own, is not seen. Two states that differ need not differ in
/// contents: a new name, owner or mode is a change too.
package struct FileState: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64
  private let mode: UInt32
  private let modified: FileTime
  private let changed: FileTime
  package let byteCount: Int
  /// Names that the file has.
  package let linkCount: Int

  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    mode = UInt32(status.st_mode)
    modified = FileTime(status.st_mtim)
    changed = FileTime(status.st_ctim)
    byteCount = Int(status.st_size)
    linkCount = Int(status.st_nlink)
  }

  /// Of an open file.
  init(_ descriptor: Int32, path: String) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    self.init(status)
  }

  /// Whether the file has more or fewer names than in an earlier state, and was not written to: a new name, or none, is
  /// a change of a file too.
  package func differsByNames(from earlier: FileState) -> Bool {
    linkCount != earlier.linkCount && device == earlier.device && inode == earlier.inode && mode == earlier.mode
      && modified == earlier.modified && byteCount == earlier.byteCount
  }

  /// The state as words, none of which has a space.
  package var facts: [String] {
    ["\(device)", "\(inode)", "\(byteCount)", modified.text, changed.text]
  }

  /// Whether the last change is that long ago, so that the next one has another time.
  ///
  /// - Parameter now: seconds since 1970.
  package func isSettled(for seconds: Double, at now: Double) -> Bool {
    max(modified.sinceEpoch, changed.sinceEpoch) + seconds <= now
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
}

/// A time as a file system keeps it.
private struct FileTime: Sendable, Hashable {
  private let seconds: Int
  private let nanoseconds: Int

  init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }

  var text: String { "\(seconds).\(nanoseconds)" }
  var sinceEpoch: Double { Double(seconds) + Double(nanoseconds) * 1e-9 }
}
