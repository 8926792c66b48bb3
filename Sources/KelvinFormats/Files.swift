import Glibc
import KelvinGraph
import Synchronization

enum FileKind {
  case absent, file, folder

  init(_ path: String) {
    var status = stat()
    if stat(path, &status) != 0 {
      self = .absent
    } else {
      self = status.st_mode & S_IFMT == S_IFDIR ? .folder : .file
    }
  }
}

/// A whole file, mapped.
func mapFile(_ path: String) throws(FormatError) -> Bytes {
  do { return try Bytes(mapping: path) } catch { throw FormatError(error) }
}

/// The names in a folder, sorted.
func listFolder(_ path: String) -> [String] {
  guard let folder = opendir(path) else { return [] }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) {
      $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

extension String {
  /// The last part of a path.
  var lastPathPart: String { split(separator: "/").last.map(String.init) ?? self }

  /// A path's folder, without a slash at its end.
  var parentPath: String {
    guard let slash = lastIndex(of: "/") else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }

  /// Whether a path from a file, taken relative to a folder, stays inside that folder.
  var staysInside: Bool {
    !isEmpty && !hasPrefix("/") && !utf8.contains(0) && !split(separator: "/").contains("..")
  }

  func hasExtension(_ name: String) -> Bool { lowercased().hasSuffix(".\(name)") }
}

/// Files beside a model that hold its weights, mapped when first needed.
final class WeightFiles: Sendable {
  let folder: String
  private let mapped = Mutex<[String: Bytes]>([:])

  init(folder: String) { self.folder = folder }

  func path(_ relative: String) -> String { "\(folder)/\(relative)" }

  /// - Parameter relative: a path from the model, which must stay inside its folder.
  func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    guard relative.staysInside else {
      throw FormatError(
        .malformed, file: model, "its weights lie in '\(relative)', outside the model's folder",
        remedy: "weights must lie beside the model or below it")
    }
    if let bytes = mapped.withLock({ $0[relative] }) { return bytes }
    do {
      let bytes = try Bytes(mapping: path(relative))
      mapped.withLock { $0[relative] = bytes }
      return bytes
    } catch {
      throw FormatError(
        .unreadable, file: error.path, "the model's weights cannot be read: \(error.reason)",
        remedy: "put the file that came with the model beside it")
    }
  }
}
