import Glibc
import KelvinBasics

package enum FileKind {
  case absent, file, folder

  package init(_ path: String) {
    var status = stat()
    if stat(path.pathBytes, &status) != 0 {
      self = .absent
    } else {
      self = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
    }
  }
}

extension String {
  package func hasExtension(_ name: String) -> Bool { lowercased().hasSuffix(".\(name)") }
}
