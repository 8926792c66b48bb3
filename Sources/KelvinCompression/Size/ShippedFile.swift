import Glibc
import KelvinBasics
import KelvinGraph
import KelvinImport

/// A file of a model, as it is shipped.
package struct ShippedFile: Hashable, Sendable {
  /// The path on this machine.
  package let path: String
  /// The path relative to the model's folder; for a model of one file its name.
  package let name: String
  package let byteCount: Int

  /// Returns all regular files of a model: those in its folder, or the model's file and the files that it refers to.
  ///
  /// - Parameter allowsLinks: Whether links in the folder are followed. Otherwise they are left out.
  static func list(of source: ModelSource, allowsLinks: Bool) throws(FormatError) -> [ShippedFile] {
    guard FileKind(source.path) == .folder else {
      let folder = source.path.parentPath
      var seen = Set<ExactString>()
      return try source.files.filter { seen.insert(ExactString($0)).inserted }.map { (path) throws(FormatError) in
        let isBelow = folder != "." && path.hasPrefix("\(folder)/")
        let name = isBelow ? String(path.dropFirst(folder.count + 1)) : path
        do throws(FileError) {
          return ShippedFile(path: path, name: name, byteCount: try OpenFile(path).byteCount)
        } catch { throw FormatError(error) }
      }
    }
    return try list(below: source.path, allowsLinks: allowsLinks)
  }

  /// Returns all regular files in a folder and below it.
  static func list(below folder: String, allowsLinks: Bool) throws(FormatError) -> [ShippedFile] {
    let root = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    var files: [ShippedFile] = []
    try add(to: &files, below: "", of: ModelFolder(path: root, allowsLinks: allowsLinks), allowsLinks)
    return files
  }

  /// The deepest folder that is read; packages have four levels.
  private static let depthLimit = 32

  private static func add(
    to files: inout [ShippedFile], below relative: String, of folder: ModelFolder, _ allowsLinks: Bool, depth: Int = 0
  ) throws(FormatError) {
    guard depth < depthLimit else {
      throw FormatError(
        .malformed, file: folder.path, "its folders are nested more than \(depthLimit) deep",
        remedy: "a link may lead to a folder above it")
    }
    for name in try folder.names(in: relative.isEmpty ? "." : relative) {
      let inner = relative.isEmpty ? name : "\(relative)/\(name)"
      let path = "\(folder.path)/\(inner)"
      guard let status = FileBrokers.status(path, followsLinks: allowsLinks) else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFDIR: try add(to: &files, below: inner, of: folder, allowsLinks, depth: depth + 1)
      case S_IFREG: files.append(ShippedFile(path: path, name: inner, byteCount: Int(status.st_size)))
      default: break
      }
    }
  }
}
