package import Glibc
import Synchronization

/// Opens files in place of this process, which the system lets open nothing itself.
package protocol FileBroker: Sendable {
  /// Returns a descriptor that belongs to the caller.
  ///
  /// - Parameters:
  ///   - path: A path, relative to `folder` if there is one.
  ///   - folder: The folder that the file must be in; nil for a path from the user.
  ///   - flags: The flags of `open`. The broker only opens for reading.
  func open(
    _ path: String, below folder: String?, flags: Int32, followsLinks: Bool
  ) throws(FolderDescent.Failure) -> Int32
}

/// The broker of this process.
package enum FileBrokers {
  private static let installed = Mutex<(any FileBroker)?>(nil)

  /// The broker through which files of models are opened; nil if this process opens them itself.
  package static var current: (any FileBroker)? {
    get { installed.withLock(\.self) }
    set { installed.withLock { $0 = newValue } }
  }

  /// O_PATH, with which nothing can be read. The Glibc module does not define it.
  package static let pathOnly: Int32 = 0o10_000_000

  /// Returns the status of a file; nil if there is none.
  package static func status(_ path: String, followsLinks: Bool) -> stat? {
    var status = stat()
    guard let broker = current else {
      let code = followsLinks ? stat(path.pathBytes, &status) : lstat(path.pathBytes, &status)
      return code == 0 ? status : nil
    }
    let flags = pathOnly | (followsLinks ? 0 : O_NOFOLLOW)
    guard let file = try? broker.open(path, below: nil, flags: flags, followsLinks: followsLinks) else { return nil }
    defer { close(file) }
    return fstat(file, &status) == 0 ? status : nil
  }
}
