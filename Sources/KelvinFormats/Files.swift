import Glibc
import KelvinBasics

enum FileKind {
  case absent, file, folder

  init(_ path: String) {
    var status = stat()
    if stat(path.pathBytes, &status) != 0 {
      self = .absent
    } else {
      self = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
    }
  }
}

extension String {
  /// The last part of a path.
  var lastPathPart: String { split(separator: "/").last.map(String.init) ?? self }

  /// A path's folder, without a slash at its end.
  var parentPath: String {
    guard let slash = lastIndex(of: "/") else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  func hasExtension(_ name: String) -> Bool { lowercased().hasSuffix(".\(name)") }
}
