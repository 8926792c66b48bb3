package import KelvinMeasurements

/// A folder of small text files, laid out like the kernel's, that is removed with the value.
package final class FixtureTree: Sendable {
  private let folder = TemporaryFolder()
  package var root: String { folder.path }

  package init(_ contents: [String: String]) { for (path, text) in contents { write(path, text) } }

  /// Returns the result of `read` on a machine with these files.
  package static func reading<Value>(_ contents: [String: String], _ read: (SystemFiles) -> Value) -> Value {
    let tree = FixtureTree(contents)
    return withExtendedLifetime(tree) { read(tree.files) }
  }

  /// A machine without readable files.
  package static let nothing = SystemFiles(root: "/no-such-folder")

  package var files: SystemFiles { SystemFiles(root: root) }

  package func write(_ path: String, _ text: String) { folder.write(text, path) }
}
