import Glibc
import KelvinBasics
package import KelvinFeatures

/// A scan for the image files of a folder and its subfolders, by file extension.
///
/// Hidden names (with a leading dot) are skipped. Symbolic links are skipped too, unless they are to be followed. No
/// folder is visited twice, even if links lead to it.
package struct FolderScan {
  /// A file, by its path relative to the folder.
  package struct Entry: Hashable, Sendable {
    package var path: String
    package var state: ImageState
  }

  /// The files, sorted by the bytes of their paths.
  package private(set) var entries: [Entry] = []
  /// The files and folders that could not be read, with the reasons.
  package private(set) var faults: [(path: String, reason: String)] = []
  /// The folders that could not be read, relative to the scanned folder, each with a trailing slash. Images of the
  /// index in these folders may still exist.
  package private(set) var unseen: [String] = []

  private let root: String
  private let followsLinks: Bool
  private var visited: Set<FileIdentity> = []
  private var folders = [""]

  private static let endings: Set<String> = [
    "jpg", "jpeg", "jpe", "jfif", "png", "webp", "tif", "tiff", "gif", "bmp", "avif", "heic", "heif",
  ]

  /// Scans a folder.
  ///
  /// - Throws: `io` where the folder itself cannot be read; `cancelled`.
  package init(
    _ root: String, followsLinks: Bool, found: (Int) -> Void, isCancelled: () -> Bool
  ) throws(PhotoIndexError) {
    self.root = root
    self.followsLinks = followsLinks
    var status = stat()
    guard stat(root.pathBytes, &status) == 0 else { throw Self.fault(root, errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw Self.fault(root, ENOTDIR) }
    visited.insert(FileIdentity(status))
    while let folder = folders.popLast() {
      if isCancelled() { throw PhotoIndexError(.cancelled, "'\(root)' was still being scanned") }
      if let code = look(into: folder) {
        guard !folder.isEmpty else { throw Self.fault(root, code) }
        faults.append((String(folder.dropLast()), String(cString: strerror(code))))
        unseen.append(folder)
      }
      found(entries.count)
    }
    entries.sort { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
  }

  private static func fault(_ root: String, _ code: Int32) -> PhotoIndexError {
    PhotoIndexError(.io, "\(FileError(path: root, action: "look into", code: code))")
  }

  private func absolute(_ path: String) -> String { "\(root)/\(path)" }

  /// Scans one folder.
  ///
  /// - Returns: The `errno` value where the folder cannot be read; nil otherwise.
  private mutating func look(into folder: String) -> Int32? {
    guard let stream = opendir(absolute(folder).pathBytes) else { return errno }
    defer { closedir(stream) }
    errno = 0
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) }
      if name.utf8.first != UInt8(ascii: ".") { look(at: folder + name) }
      errno = 0
    }
    return errno == 0 ? nil : errno
  }

  private mutating func look(at path: String) {
    var status = stat()
    guard lstat(absolute(path).pathBytes, &status) == 0 else { return note(path, errno) }
    if status.st_mode & S_IFMT == S_IFLNK {
      guard followsLinks else { return }
      guard stat(absolute(path).pathBytes, &status) == 0 else { return note(path, errno) }
    }
    if status.st_mode & S_IFMT == S_IFDIR {
      if visited.insert(FileIdentity(status)).inserted { folders.append(path + "/") }
    } else if Self.isImage(path) {
      guard status.st_mode & S_IFMT == S_IFREG else { return faults.append((path, "it is not a regular file")) }
      entries.append(Entry(path: path, state: ImageState(status)))
    }
  }

  /// Records a fault, unless the file has disappeared since the folder was read.
  private mutating func note(_ path: String, _ code: Int32) {
    guard Self.isImage(path), code != ENOENT || followsLinks else { return }
    faults.append((path, String(cString: strerror(code))))
  }

  /// Returns whether a path has the extension of an image file.
  package static func isImage(_ path: String) -> Bool {
    guard let point = path.utf8.lastIndex(of: UInt8(ascii: ".")) else { return false }
    return endings.contains(String(path[path.utf8.index(after: point)...]).lowercased())
  }
}

/// The identity of a file, independent of its names.
private struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64

  init(_ status: stat) { (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino)) }
}

/// The state by which an unchanged file is recognized: its size in bytes, its modification time in nanoseconds since
/// 1970, and its inode number.
package struct ImageState: Hashable, Sendable {
  package let size: Int64
  package let modified: Int64
  package let inode: Int64

  package init(size: Int64, modified: Int64, inode: Int64) {
    (self.size, self.modified, self.inode) = (size, modified, inode)
  }

  init(_ status: stat) {
    let (seconds, isLarge) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
    self.init(
      size: Int64(status.st_size), modified: isLarge ? 0 : seconds &+ Int64(status.st_mtim.tv_nsec),
      inode: Int64(bitPattern: UInt64(status.st_ino)))
  }
}
