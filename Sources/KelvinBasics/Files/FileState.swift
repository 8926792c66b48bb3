package import Glibc

/// The identity of a file's state, determined without reading it: the file's number, its size, and the times of the
/// last changes to its contents and metadata.
///
/// Equal states imply equal contents, up to the time resolution of the file system: a change within one step of its
/// clock, at most some milliseconds on a local disk, is not detected. Different states may have equal contents: a new
/// name, owner or mode also changes the state.
package struct FileState: Sendable, Hashable {
  private let device: UInt64
  private let inode: UInt64
  private let mode: UInt32
  private let modified: FileTime
  private let changed: FileTime
  package let byteCount: Int
  /// The number of names (hard links) that the file has.
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

  /// Returns the state of an open file.
  init(_ descriptor: Int32, path: String) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    self.init(status)
  }

  /// Whether the file only has more or fewer names than in an earlier state, without having been written to.
  package func differsByNames(from earlier: FileState) -> Bool {
    linkCount != earlier.linkCount && device == earlier.device && inode == earlier.inode && mode == earlier.mode
      && modified == earlier.modified && byteCount == earlier.byteCount
  }

  /// The state as strings without spaces.
  package var facts: [String] {
    ["\(device)", "\(inode)", "\(byteCount)", modified.text, changed.text]
  }

  /// Whether the last change is old enough that a later change has another time.
  ///
  /// - Parameter now: seconds since 1970.
  package func isSettled(for seconds: Double, at now: Double) -> Bool {
    max(modified.sinceEpoch, changed.sinceEpoch) + seconds <= now
  }

  var isRegular: Bool { mode & S_IFMT == S_IFREG }

  /// The reason why a file is not a regular file.
  package var kind: String {
    switch mode & S_IFMT {
    case S_IFDIR: "it is a folder, not a file"
    case S_IFIFO: "it is a pipe, not a regular file"
    case S_IFSOCK: "it is a socket, not a regular file"
    case S_IFCHR, S_IFBLK: "it is a device, not a regular file"
    default: "it is not a regular file"
    }
  }
}

/// A time with the resolution of the file system.
private struct FileTime: Sendable, Hashable {
  private let seconds: Int
  private let nanoseconds: Int

  init(_ time: timespec) { (seconds, nanoseconds) = (time.tv_sec, time.tv_nsec) }

  var text: String { "\(seconds).\(nanoseconds)" }
  var sinceEpoch: Double { Double(seconds) + Double(nanoseconds) * 1e-9 }
}
