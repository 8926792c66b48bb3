import KelvinBasics
package import KelvinGraph
package import KelvinImport

#if CoreML
import KelvinCoreML
#endif
#if ONNX
import KelvinONNX
#endif

/// All families of formats, in the order in which they are tried. To add a family, add it here.
private let families: [FormatFamily] = [onnx, coreML]

#if ONNX
private let onnx = FormatFamily.onnx
#else
private let onnx = FormatFamily.absent(trait: "ONNX", name: "ONNX") { $0.hasExtension("onnx") }
#endif

#if CoreML
private let coreML = FormatFamily.coreML
#else
private let coreML = FormatFamily.absent(trait: "CoreML", name: "Core ML") { path in
  ["mlpackage", "mlmodelc", "mlmodel"].contains { path.hasExtension($0) } || FileKind("\(path)/Manifest.json") == .file
}
#endif

package let formats: [Format] = families.flatMap(\.formats)

/// Returns the supported operations of an operation set, by the format's own names, sorted.
package func supportedOperations(_ set: OperationSet) -> [String] {
  families.lazy.compactMap { $0.operations()[set] }.first ?? []
}

/// Reads a model file or package. Its weights stay in the mapped file.
///
/// - Parameter allowsLinks: whether links among the files that the model names are followed; `path` itself may be a
///   link.
/// - Throws: `FormatError`. Unsupported operations are only reported when a graph is built.
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
  // A file that was truncated while it was read is rejected.
  try program.source.opened.vouching(refusing: FormatError.init(_:)) { () throws(FormatError) in }
  return program
}

/// Reads a model from memory.
///
/// - Throws: `FormatError`, as `readModel(at:allowsLinks:)` does.
package func readModel(_ memory: MemoryFiles) throws(FormatError) -> ModelProgram {
  try (memory.isONNX ? onnx : coreML).readMemory(memory)
}
