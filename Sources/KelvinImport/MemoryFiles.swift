package import FoundationEssentials
import KelvinBasics
package import KelvinGraph

/// A model in memory, and the files that it refers to.
package struct MemoryFiles: Sendable {
  /// The path that stands for the folder of a model in memory.
  package static let folder = "memory:"
  /// The path that stands for the model's own file.
  package static let modelPath = "\(folder)/model"

  /// The model itself: the bytes of an `.mlmodel` or `.onnx` file, or the specification of a package.
  package let model: Bytes
  private let files: [String: Bytes]

  /// Creates the model.
  ///
  /// - Parameters:
  ///   - model: The model's bytes, which are copied, like those of the files.
  ///   - files: The files by their paths from the model.
  package init(model: Data, files: [String: Data]) {
    self.model = Self.copy(model, Self.modelPath)
    self.files = Dictionary(uniqueKeysWithValues: files.map { ($0, Self.copy($1, "\(Self.folder)/\($0)")) })
  }

  /// Creates the model of bytes that have their paths as names.
  init(model: Bytes, files: [String: Bytes]) { (self.model, self.files) = (model, files) }

  private static func copy(_ data: Data, _ path: String) -> Bytes {
    data.withUnsafeBytes { Bytes(copying: $0, named: path) }
  }

  package func path(_ relative: String) -> String { "\(Self.folder)/\(known(relative) ?? relative)" }

  /// Returns the bytes of a file.
  ///
  /// - Throws: `FormatError` with code `unreadable` if the file was not given.
  package func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    guard let path = known(relative), let bytes = files[path] else {
      let given = files.isEmpty ? "none" : files.keys.sorted().joined(separator: ", ")
      throw FormatError(
        .unreadable, file: model, "it names the file '\(relative)', which was not given with it; given files: \(given)",
        remedy: "add its bytes under that path")
    }
    return bytes
  }

  /// Returns the path under which a file was given: the path that the model uses, or a unique path with the same file
  /// name. Callers who hold a package's files in memory often know only the file names.
  private func known(_ relative: String) -> String? {
    if files[relative] != nil { return relative }
    let named = files.keys.filter { $0.lastPathPart == relative.lastPathPart }
    return named.count == 1 ? named[0] : nil
  }
}

extension MemoryFiles {
  /// Returns the files for a format's reader, which keeps the model's own bytes.
  package func opened() -> ModelFiles {
    let files = ModelFiles(self)
    files.opened.hold(model)
    return files
  }
}
