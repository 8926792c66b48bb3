import Glibc
import Kelvin
import KelvinBasics
import KelvinIndex
import KelvinVision

/// The expansion of the names of files, folders and patterns that a user gives.
package enum ImageFileList {
  /// A file, with the reason where it is not available.
  package struct File: Sendable {
    package var path: String
    /// The named folder that the file was found in; no link below it is followed.
    package var folder: String?
    package var fault: String?
  }

  /// Expands names in the order given. A folder expands to all images below it, sorted by path. A pattern (`*`, `?`,
  /// `[…]`) that is not the name of a file expands to the matching names, sorted.
  package static func named(_ names: [String]) -> [File] { names.flatMap(named) }

  private static func named(_ name: String) -> [File] {
    var status = stat()
    if stat(name.pathBytes, &status) == 0 {
      return status.st_mode & S_IFMT == S_IFDIR ? below(name) : [File(path: name)]
    }
    guard name.utf8.contains(where: { "*?[".utf8.contains($0) }) else { return [File(path: name)] }
    let found = matching(name)
    return found.isEmpty
      ? [File(path: name, fault: "no file has this name or matches it as a pattern")] : found.flatMap(named)
  }

  private static func below(_ folder: String) -> [File] {
    let file = IndexFile(folder: folder)
    do throws(PhotoIndexError) {
      let walk = try FolderScan(folder, followsLinks: false, found: { _ in }, isCancelled: { false })
      let images = walk.entries.map { File(path: file.path(of: $0.path), folder: folder) }
      let faults = walk.faults.map { File(path: file.path(of: $0.path), fault: $0.reason) }
      return images.isEmpty && faults.isEmpty
        ? [File(path: folder, fault: "the folder has no images")] : images + faults
    } catch { return [File(path: folder, fault: error.description)] }
  }

  private static func matching(_ pattern: String) -> [String] {
    var found = glob_t()
    defer { globfree(&found) }
    guard glob(pattern.pathBytes, 0, nil, &found) == 0 else { return [] }
    return (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(path: $0) } }
  }

  private static let modelEndings = ["mlpackage", "mlmodel", "mlmodelc", "onnx"]

  /// Returns whether a path is that of a model, rather than an image, a folder or a pattern. The file extension
  /// decides, otherwise the file's content.
  package static func isModel(_ path: String) -> Bool {
    let name = path.lastPathPart
    if modelEndings.contains(where: { name.lowercased().hasSuffix(".\($0)") }) { return true }
    var status = stat()
    guard path != "-", stat(path.pathBytes, &status) == 0 else { return false }
    if status.st_mode & S_IFMT == S_IFDIR {
      return ["Manifest.json", "model.mil"].contains { access("\(path)/\($0)".pathBytes, F_OK) == 0 }
    }
    guard let file = try? OpenFile(path), let start = try? file.start(16), !start.isEmpty else { return false }
    return ImageFormat(sniffing: start) == nil && !FolderScan.isImage(path)
  }
}
