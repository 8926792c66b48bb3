import Glibc
package import KelvinMeasurements

/// A folder of small text files, as the kernel lays them out, that goes away with the value.
package final class FixtureTree: Sendable {
  package let root: String

  package init(_ contents: [String: String]) {
    var template = Array("\(P_tmpdir)/kelvin-fixture-XXXXXX".utf8CString)
    root = mkdtemp(&template).map { String(cString: $0) } ?? ""
    for (path, text) in contents { write(path, text) }
  }

  deinit { remove(root) }

  /// What `read` finds on a machine laid out like this.
  package static func reading<Value>(_ contents: [String: String], _ read: (SystemFiles) -> Value) -> Value {
    let tree = FixtureTree(contents)
    return withExtendedLifetime(tree) { read(tree.files) }
  }

  /// A machine that shows nothing.
  package static let nothing = SystemFiles(root: "/no-such-folder")

  package var files: SystemFiles { SystemFiles(root: root) }

  package func write(_ path: String, _ text: String) {
    var folder = root
    for part in path.split(separator: "/").dropLast() {
      folder += "/" + part
      mkdir(folder, 0o755)
    }
    guard let file = fopen(root + "/" + path, "w") else { return }
    let bytes = Array(text.utf8)
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
  }

  private func remove(_ path: String) {
    for name in SystemFiles(root: path).names(in: "") { remove(path + "/" + name) }
    if unlink(path) != 0 { rmdir(path) }
  }
}
