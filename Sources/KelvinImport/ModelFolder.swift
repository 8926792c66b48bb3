import Glibc
package import KelvinBasics
import KelvinGraph

/// The folder of a model. Files that the model refers to must lie inside it.
///
/// The paths in a model are untrusted. None may lead out of the folder: not by its name, by a symbolic link on the way,
/// or by a hard link to a file elsewhere. `FolderDescent` opens them.
package struct ModelFolder: Sendable {
  /// The path as the user wrote it.
  package let path: String
  /// Whether links are followed; the folder's files may then be outside it.
  package let allowsLinks: Bool

  package init(path: String, allowsLinks: Bool) {
    self.path = path
    self.allowsLinks = allowsLinks
  }

  /// Opens a file below the folder.
  ///
  /// - Parameters:
  ///   - relative: The path from the folder, as the model gives it.
  ///   - model: The name of the model in errors.
  /// - Throws: `FormatError`: `malformed` if the path itself leads out of the folder, `link` for a link, `unreadable`
  ///   otherwise.
  package func open(_ relative: String, model: String) throws(FormatError) -> OpenFile {
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "it names the file '\(relative)', which is outside the model's folder",
        remedy: "put the files of a model into its folder or below it")
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
      remedy: "replace it by the file that came with the model")
  }

  private func link(_ full: String, _ reason: String) -> FormatError {
    FormatError(
      .link, file: full, "a file of the model is not read: \(reason)",
      remedy: "replace it by a copy, or give --allow-links (ModelConfiguration.allowsLinks) if you trust the model")
  }

  /// Whether the folder contains a file of this name, links included.
  package func contains(_ relative: String) -> Bool {
    FileBrokers.status("\(path)/\(relative)", followsLinks: false) != nil
  }

  /// Returns the names in a folder below this one, sorted; empty if there is no such folder.
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

  /// Returns a descriptor of the last component of a path.
  private func descend(_ relative: String, last: Int32) throws(FormatError) -> Int32 {
    let full = "\(path)/\(relative)"
    do throws(FolderDescent.Failure) {
      return try FolderDescent.open(relative, below: path, last: last, followsLinks: allowsLinks)
    } catch {
      switch error {
      case .folder(let code): throw unreadable(path, FileError(path: path, action: "open", code: code).reason)
      case .system(let code): throw unreadable(full, FileError(path: full, action: "open", code: code).reason)
      case .link: throw link(full, error.description)
      }
    }
  }
}
