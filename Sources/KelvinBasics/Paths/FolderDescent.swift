import Glibc

/// Opens files below a folder whose contents are untrusted.
///
/// Components are opened one after another, each relative to the previous one, without following links. The checks apply
/// to what was opened, so that a concurrent replacement is never read. The folder's own path comes from the user and may
/// contain links.
package enum FolderDescent {
  /// The reason why a path cannot be opened.
  package enum Failure: Error, Hashable, CustomStringConvertible {
    /// The folder itself cannot be opened, with the system's error number.
    case folder(Int32)
    /// The file cannot be opened, with the system's error number.
    case system(Int32)
    /// A component of the path is a link.
    case link(String, target: String)

    package var description: String {
      switch self {
      case .folder(let code), .system(let code): String(cString: strerror(code))
      case .link(let part, let target): "'\(part)' is a symbolic link to '\(target)'"
      }
    }
  }

  /// Returns a descriptor of the last component of a path.
  ///
  /// - Parameters:
  ///   - relative: A path that `staysInside` the folder.
  ///   - last: The flags for the last component.
  package static func open(
    _ relative: String, below path: String, last: Int32, followsLinks: Bool
  ) throws(Failure) -> Int32 {
    guard relative.staysInside else { throw .system(EXDEV) }
    if let broker = FileBrokers.current {
      return try broker.open(relative, below: path, flags: last, followsLinks: followsLinks)
    }
    // O_PATH needs no permission to read a folder.
    let step = FileBrokers.pathOnly | O_DIRECTORY | (followsLinks ? 0 : O_NOFOLLOW)
    var folder = Glibc.open(path.pathBytes, FileBrokers.pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw .folder(errno) }
    var rest = relative.pathParts[...]
    while let part = rest.popFirst() {
      let next = openat(folder, part.pathBytes, (rest.isEmpty ? last : step) | O_CLOEXEC)
      let code = errno
      let target = next < 0 ? SymbolicLink.target(of: part, in: folder) : nil
      close(folder)
      if let target { throw .link(part, target: target) }
      guard next >= 0 else { throw .system(code) }
      folder = next
    }
    return folder
  }
}

extension OpenFile {
  /// Opens a file that was found in a folder. No link below the folder is followed.
  ///
  /// - Parameters:
  ///   - path: The path, which begins with the folder's.
  ///   - folder: The path of the folder as the user named it; nil for a path from the user, whose links are followed.
  /// - Throws: `FileError`, also for a link.
  package convenience init(_ path: String, below folder: String?) throws(FileError) {
    guard let folder else {
      try self.init(path)
      return
    }
    let prefix = folder.appendingPath("")
    let relative = path.utf8.starts(with: prefix.utf8) ? String(Substring(path.utf8.dropFirst(prefix.utf8.count))) : ""
    let descriptor: Int32
    do throws(FolderDescent.Failure) {
      descriptor = try FolderDescent.open(
        relative, below: folder, last: O_RDONLY | O_NONBLOCK | O_NOFOLLOW, followsLinks: false)
    } catch {
      throw FileError(path: path, action: "open", reason: error.description)
    }
    try self.init(descriptor: descriptor, path: path)
  }
}

extension String {
  /// Whether a path relative to a folder stays inside that folder by its name.
  package var staysInside: Bool {
    !isEmpty && !isRootedPath && utf8.last != UInt8(ascii: "/") && !utf8.contains(0) && !pathParts.contains("..")
  }
}
