package import KelvinGraph

/// A family of model files.
package struct Format: Sendable {
  package let name: String
  /// Whether a path looks like one of them: by its name or its first bytes.
  package let sniff: @Sendable (_ path: String) -> Bool
  package let read: @Sendable (_ path: String, _ allowsLinks: Bool) throws(FormatError) -> ModelProgram
}

/// Every format there is, in the order in which they are asked.
package let formats: [Format] = onnxFormats + coreMLFormats

#if ONNX
private let onnxFormats: [Format] = [.onnx]
#else
private let onnxFormats: [Format] = [.absentONNX]
#endif

#if CoreML
private let coreMLFormats: [Format] = [.mlPackage, .compiledCoreML, .mlModel]
#else
private let coreMLFormats: [Format] = [.absentCoreML]
#endif

/// Reads a model file or package. Its weights stay in the mapped file.
///
/// - Parameter allowsLinks: whether links among the files that the model names are followed; `path` itself may be one.
/// - Throws: `FormatError`. Operations that Kelvin lacks are reported when a graph is built, not here.
package func readModel(at path: String, allowsLinks: Bool = false) throws(FormatError) -> ModelProgram {
  var path = path
  while path.count > 1, path.hasSuffix("/") { path.removeLast() }
  let kind = FileKind(path)
  guard kind != .absent else {
    throw FormatError(.unreadable, file: path, "there is no such file or folder")
  }
  guard let format = formats.first(where: { $0.sniff(path) }) else {
    throw FormatError(
      .unsupported, file: path, "it is \(kind == .folder ? "a folder" : "a file") of an unknown kind",
      remedy: "expected an .onnx file, an .mlpackage or .mlmodelc folder, or an .mlmodel file")
  }
  let program = try format.read(path, allowsLinks)
  // They were whole all the while.
  try program.source.opened.vouching(refusing: FormatError.init(_:)) { () throws(FormatError) in }
  return program
}
