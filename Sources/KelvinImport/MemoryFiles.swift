package import FoundationEssentials
import KelvinBasics
package import KelvinGraph

/// A model that lies in memory, and the files that it names.
package struct MemoryFiles: Sendable {
  /// What stands for the folder of a model that is in none.
  package static let folder = "memory:"
  /// What stands for the model's own path.
  package static let modelPath = "\(folder)/model"

  /// The model itself, an `.mlmodel` or `.onnx` file's bytes or the specification of a package.
  package let model: Bytes
  private let files: [String: Bytes]

  /// - Parameters:
  ///   - model: is copied, as the files are.
  ///   - files: by their paths from the model.
  package init(model: Data, files: [String: Data]) {
    self.model = Self.copy(model, Self.modelPath)
    self.files = Dictionary(uniqueKeysWithValues: files.map { ($0, Self.copy($1, "\(Self.folder)/\($0)")) })
  }

  private static func copy(_ data: Data, _ path: String) -> Bytes {
    data.withUnsafeBytes { Bytes(copying: $0, named: path) }
  }

  package func path(_ relative: String) -> String { "\(Self.folder)/\(known(relative) ?? relative)" }

  /// - Throws: `FormatError` with code `unreadable` for a file that was not given.
  package func bytes(_ relative: String, model: String) throws(FormatError) -> Bytes {
    guard let path = known(relative), let bytes = files[path] else {
      let given = files.isEmpty ? "none" : files.keys.sorted().joined(separator: ", ")
      throw FormatError(
        .unreadable, file: model, "it names the file '\(relative)', which was not given with it; files given: \(given)",
        remedy: "give its bytes under that path")
    }
    return bytes
  }

  /// The path under which a file was given: that by which the model calls it, or the only one of the same name, since
  /// those who have a package's files in memory often know no more of them.
  private func known(_ relative: String) -> String? {
    if files[relative] != nil { return relative }
    let named = files.keys.filter { $0.lastPathPart == relative.lastPathPart }
    return named.count == 1 ? named[0] : nil
  }
}

extension MemoryFiles {
  /// The files as a reader of a format sees them; the model's own bytes are held.
  package func opened() -> ModelFiles {
    let files = ModelFiles(self)
    files.opened.hold(model)
    return files
  }

  /// Whether the model is ONNX: its messages have a graph where Core ML's have nothing, and no field of three digits.
  package var isONNX: Bool {
    let onnxGraph = 7
    var reader = WireMessage(model, file: "model").fields()
    while let field = try? reader.next() {
      if field.number == onnxGraph { return true }
      if field.number >= 100 { return false }
    }
    return false
  }
}
