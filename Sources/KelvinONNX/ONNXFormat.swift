import KelvinBasics
package import KelvinGraph
package import KelvinImport

extension FormatFamily {
  package static let onnx = FormatFamily(
    formats: [.onnx],
    file: .onnx,
    readMemory: { (memory) throws(FormatError) in
      try readONNX(memory.model, path: MemoryFiles.modelPath, files: memory.opened())
    },
    operations: {
      [
        .onnx: Set(ONNXMapper.byName.keys).union(ONNXControl.byName.keys).union(ONNXSequence.byName.keys)
          .union(ONNXHostMapper.all.map(\.name)).union(ONNXDecomposition.byName.keys).sorted()
      ]
    })
}

extension Format {
  /// The ONNX format. Reference: github.com/onnx/onnx, `docs/IR.md` and `docs/Operators.md`.
  static let onnx = Format(
    name: "ONNX",
    sniff: { path in FileKind(path) == .file && path.hasExtension("onnx") },
    read: { (path, allowsLinks) throws(FormatError) in
      let files = ModelFiles(folder: path.parentPath, allowsLinks: allowsLinks)
      return try readONNX(files.bytes(at: path), path: path, files: files)
    })
}

/// Reads an ONNX model from memory.
///
/// - Parameter path: The path of the model; weight files are searched in the same folder.
package func readONNX(_ bytes: Bytes, path: String) throws(FormatError) -> ModelProgram {
  try readONNX(bytes, path: path, files: ModelFiles(folder: path.parentPath))
}

func readONNX(_ bytes: Bytes, path: String, files: ModelFiles) throws(FormatError) -> ModelProgram {
  let file = path.lastPathPart
  guard bytes.count > 0 else { throw FormatError(.malformed, file: file, "the file is empty") }
  var model = try ONNXModel(WireMessage(bytes, file: file))
  // Files of the first two versions of the format import no operator sets.
  guard !model.usesStandardOperators || model.operatorSets[""] != nil || (1...2).contains(model.irVersion) else {
    throw FormatError(
      .malformed, file: file, "it imports no standard operator set", remedy: "export it again, or add opset_import")
  }
  guard !model.usesStandardOperators || (1...28).contains(model.opset) else {
    throw FormatError(
      .unsupported, file: file, "it uses operator set \(model.opset), expected 1 to 28",
      remedy: "convert it with onnx.version_converter")
  }
  let written = model.graph.nodes
  try ONNXVersionChange.update(&model.graph, from: model.opset)
  let whole = model
  var function = try function(of: whole, file: file, files: files)
  function.overridable = ONNXFeatures.overridable(model, file: file)
  if !function.overridable.isEmpty {
    function.overriding = { names in
      var model = whole
      for name in names { model.graph.initializers[name] = nil }
      return try KelvinONNX.function(of: model, file: file, files: files)
    }
  }
  var metadata = ModelMetadata()
  metadata.summary = model.summary.isEmpty ? model.graph.summary : model.summary
  metadata.author = model.metadata["author"] ?? ""
  metadata.license = model.metadata["license"] ?? ""
  metadata.version = model.modelVersion == 0 ? "" : "\(model.modelVersion)"
  metadata.userDefined = model.metadata
  if !model.producer.isEmpty { metadata.userDefined["producer"] = model.producer }
  var external: Set<String> = []
  for tensor in model.graph.initializers.values { external.formUnion(try tensor.locations()) }
  return ModelProgram(
    functions: ["main": function], defaultFunction: "main", metadata: metadata,
    structure: .network(
      layers: written.map {
        SourceOperation(name: $0.name, kind: $0.qualifiedKind, inputs: $0.inputs, outputs: $0.outputs)
      }),
    source: ModelSource(
      path: path, format: .onnx, version: model.opset,
      files: [path] + external.sorted().filter(\.staysInside).map(files.path), opened: files.opened))
}

/// Returns the function for a model's graph.
///
/// - Parameter hostControlFlow: The `flowName`s of branches and loops that the host executes as far as possible.
private func function(
  of given: ONNXModel, file: String, files: ModelFiles, hostControlFlow: Set<String> = []
) throws(FormatError) -> Function {
  var model = given
  let features = try ONNXFeatures(model, file: file)
  model.graph.nodes = try ONNXDecomposition.decomposedNodes(model.graph)
  try model.graph.dropUnused()
  if !hostControlFlow.isEmpty { try model.graph.runOnHost(hostControlFlow) }
  try ONNXRanks.declare(in: &model.graph)
  try model.graph.declareLists()
  try model.graph.decomposeSequenceMaps()
  model.lowPrecisionTypes = try model.graph.lowPrecisionTypes()
  model.listNames = try model.graph.listNames()
  model.mark = try model.graph.mark()
  let parts = try ONNXParts(model, features, file: file, files: files).parts()
  var function = try Function(
    inputs: features.inputs, outputs: features.outputs, parts: parts + features.steps.map { .host($0) }
  ).checked(file: file)
  function.runningOnHost = { names in
    try KelvinONNX.function(of: given, file: file, files: files, hostControlFlow: names)
  }
  return function
}
