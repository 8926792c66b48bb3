package import KelvinGraph

/// A family of model files.
package struct Format: Sendable {
  package let name: String
  /// Whether a path looks like one of them: by its name or its first bytes.
  package let sniff: @Sendable (_ path: String) -> Bool
  package let read: @Sendable (_ path: String) throws(FormatError) -> ModelProgram
}

/// Every format there is, in the order in which they are asked.
package let formats: [Format] = [.onnx, .mlPackage, .mlModel]

/// Reads a model file or package. Its weights stay in the mapped file.
///
/// - Throws: `FormatError`. Operations that Kelvin lacks are reported when a graph is built, not here.
package func readModel(at path: String) throws(FormatError) -> ModelProgram {
  var path = path
  while path.count > 1, path.hasSuffix("/") { path.removeLast() }
  let kind = FileKind(path)
  guard kind != .absent else {
    throw FormatError(.unreadable, file: path, "there is no such file or folder")
  }
  guard let format = formats.first(where: { $0.sniff(path) }) else {
    throw FormatError(
      .unsupported, file: path, "it is \(kind == .folder ? "a folder" : "a file") of an unknown kind",
      remedy: "expected an .onnx file, an .mlpackage folder or an .mlmodel file")
  }
  return try format.read(path)
}
