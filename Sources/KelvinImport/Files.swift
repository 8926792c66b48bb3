import Glibc
import KelvinBasics

package enum FileKind {
  case absent, file, folder

  package init(_ path: String) {
    guard let status = FileBrokers.status(path, followsLinks: true) else {
      self = .absent
      return
    }
    self = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
  }
}

extension String {
  package func hasExtension(_ name: String) -> Bool { lowercased().hasSuffix(".\(name)") }
}
