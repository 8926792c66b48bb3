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
  let bytes = kind == .file ? try contents(path) : nil
  if let bytes, ModelArchive.recognizes(bytes) { return try readArchive(bytes, at: path) }
  guard let format = format(of: path, bytes) else {
    throw FormatError(
      .unsupported, file: path, "it is \(kind == .folder ? "a folder" : "a file") of an unknown kind",
      remedy: "expected an ONNX or .mlmodel file, an .mlpackage or .mlmodelc folder, or a ZIP file of one of them")
  }
  let program = try format.read(path, allowsLinks)
  // A file that was truncated while it was read is rejected.
  try program.source.opened.vouching(refusing: FormatError.init(_:)) { () throws(FormatError) in }
  return program
}

/// Returns whether a path holds a model of a known format, which need not be valid.
package func isModel(_ path: String) -> Bool {
  guard FileKind(path) == .file else { return format(of: path, nil) != nil }
  guard let bytes = try? contents(path) else { return false }
  return ModelArchive.recognizes(bytes) || format(of: path, bytes) != nil
}

private func contents(_ path: String) throws(FormatError) -> Bytes {
  do throws(FileError) { return try Bytes(mapping: path) } catch { throw FormatError(error) }
}

/// Returns the format of a file, by its contents, else by its name, and that of a folder; nil if it is unknown. A model
/// may have any name, as downloads do. The name of a damaged file chooses the reader that explains the damage.
private func format(of path: String, _ bytes: Bytes?) -> Format? {
  if let known = bytes.flatMap(ModelFileKind.init(recognizing:)) { return family(of: known).file }
  return formats.first { $0.sniff(path) }
}

/// Reads the model in an archive. The cache knows the model by the archive's contents.
private func readArchive(_ bytes: Bytes, at path: String) throws(FormatError) -> ModelProgram {
  let files = SourceFiles()
  files.hold(bytes)
  let memory = try files.vouching(refusing: FormatError.init(_:)) { () throws(FormatError) in
    try ModelArchive(bytes, file: path.lastPathPart).model()
  }
  var program = try readModel(memory)
  (program.source.path, program.source.files) = (path, [path])
  return program
}

private func family(of kind: ModelFileKind) -> FormatFamily {
  switch kind {
  case .onnx: onnx
  case .coreML: coreML
  }
}

/// Reads a model from memory.
///
/// - Throws: `FormatError`, as `readModel(at:allowsLinks:)` does.
package func readModel(_ memory: MemoryFiles) throws(FormatError) -> ModelProgram {
  try family(of: ModelFileKind(recognizing: memory.model) ?? .coreML).readMemory(memory)
}
