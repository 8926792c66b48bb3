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
  var lastPathPart: String { pathParts.last ?? self }

  /// A path's folder, without a slash at its end.
  var parentPath: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(Substring(utf8[..<slash]))
  }

  func hasExtension(_ name: String) -> Bool { lowercased().hasSuffix(".\(name)") }
}
