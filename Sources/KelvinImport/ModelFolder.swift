import Glibc
package import KelvinBasics
import KelvinGraph

/// O_PATH, which needs no permission to read a folder; Glibc's module does not have it.
private let pathOnly: Int32 = 0o10_000_000

/// The folder that a user gave us with a model in it: what the model names by itself lies in it or is refused.
///
/// A model comes from somebody, and the paths in it are that somebody's. None may lead out of the folder: not by its
/// name, nor by a symbolic link on its way, nor as another name of a file that lies elsewhere. Components are opened one
/// below the other without following links, and the file is looked at when it is open, so nothing that is exchanged
/// meanwhile is ever read. The folder's own path is the user's, links and all.
package struct ModelFolder: Sendable {
  /// As the user spelled it.
  package let path: String
  /// Whether links are followed: the folder's files are then wherever they lead.
  package let allowsLinks: Bool

  package init(path: String, allowsLinks: Bool) {
    self.path = path
    self.allowsLinks = allowsLinks
  }

  /// Opens a file below the folder.
  ///
  /// - Parameters:
  ///   - relative: its path from the folder, as the model gives it.
  ///   - model: what errors call the model.
  /// - Throws: `FormatError`: `malformed` where the path itself leads out, `link` for a link, `unreadable` otherwise.
  package func open(_ relative: String, model: String) throws(FormatError) -> OpenFile {
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "it names the file '\(relative)', outside the model's folder",
        remedy: "the files of a model lie beside it or below it")
    }
    let full = "\(path)/\(relative)"
    if allowsLinks { return try opened(full) { () throws(FileError) in try OpenFile(full) } }
    let descriptor = try descend(relative, last: O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
    let file = try opened(full) { () throws(FileError) in try OpenFile(descriptor: descriptor, path: full) }
    guard file.state.linkCount < 2 else {
      throw link(full, "it is a hard link: the same file has \(file.state.linkCount) names")
    }
    return file
  }

  private func opened(_ full: String, _ open: () throws(FileError) -> OpenFile) throws(FormatError) -> OpenFile {
    do throws(FileError) { return try open() } catch { throw unreadable(full, error.reason) }
  }

  private func unreadable(_ full: String, _ reason: String) -> FormatError {
    FormatError(
      .unreadable, file: full, "a file of the model cannot be read: \(reason)",
      remedy: "put the file that came with the model in its place")
  }

  private func link(_ full: String, _ reason: String) -> FormatError {
    FormatError(
      .link, file: full, "a file of the model is not read: \(reason)",
      remedy: "put a copy in its place, or give --allow-links (ModelConfiguration.allowsLinks) if you trust the model")
  }

  /// Whether there is something of this name, a link included.
  package func contains(_ relative: String) -> Bool {
    var status = stat()
    return lstat("\(path)/\(relative)".pathBytes, &status) == 0
  }

  /// The names in a folder below this one, sorted; none where there is no such folder.
  ///
  /// - Throws: `FormatError` with code `link` for a folder behind a link.
  package func names(in relative: String) throws(FormatError) -> [String] {
    let descriptor: Int32
    do throws(FormatError) {
      descriptor = try descend(relative, last: O_RDONLY | O_DIRECTORY | (allowsLinks ? 0 : O_NOFOLLOW))
    } catch {
      guard error.code == .unreadable else { throw error }
      return []
    }
    guard let folder = fdopendir(descriptor) else {
      close(descriptor)
      return []
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(path: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// A descriptor of what lies at the end of a path, each component opened below the one before.
  private func descend(_ relative: String, last: Int32) throws(FormatError) -> Int32 {
    let full = "\(path)/\(relative)"
    let step = pathOnly | O_DIRECTORY | (allowsLinks ? 0 : O_NOFOLLOW)
    var folder = Glibc.open(path.pathBytes, pathOnly | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { throw unreadable(path, FileError(path: path, action: "open", code: errno).reason) }
    var rest = relative.pathParts[...]
    while let part = rest.popFirst() {
      let next = openat(folder, part.pathBytes, (rest.isEmpty ? last : step) | O_CLOEXEC)
      let code = errno
      let target = next < 0 ? SymbolicLink.target(of: part, in: folder) : nil
      close(folder)
      if let target { throw link(full, "'\(part)' is a symbolic link to '\(target)'") }
      guard next >= 0 else { throw unreadable(full, FileError(path: full, action: "open", code: code).reason) }
      folder = next
    }
    return folder
  }
}

extension String {
  /// Whether a path from a file, taken relative to a folder, stays inside that folder by its name.
  package var staysInside: Bool {
    !isEmpty && !isRootedPath && utf8.last != UInt8(ascii: "/") && !utf8.contains(0) && !pathParts.contains("..")
  }
}
