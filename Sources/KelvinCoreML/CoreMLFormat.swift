import KelvinBasics
package import KelvinGraph
package import KelvinImport

extension FormatFamily {
  package static let coreML = FormatFamily(
    formats: [.mlPackage, .compiledCoreML, .mlModel],
    file: .mlModel,
    readMemory: { (memory) throws(FormatError) in
      let path = MemoryFiles.modelPath
      return try readCoreML(memory.model, path: path, files: memory.opened(), names: [path])
    },
    operations: {
      [
        // `const` and `classify` are part of a program's structure.
        .mlProgram: (["const", "classify"] + MILMapper.byName.keys + MILControl.byName.keys + MILConstexpr.byName.keys)
          .sorted(),
        .neuralNetwork: (LayerMapper.byName.keys + NetworkLayer.controlLayers + [Layers.custom])
          .compactMap { NetworkSchema.layerTypes[$0] }.sorted(),
        .modelKinds: CoreMLSchema.modelTypes.filter { StageReader.isKnown($0.key) }.values.sorted(),
      ]
    })
}

extension Format {
  /// The format of packages: a folder with a manifest, a model and its weights.
  static let mlPackage = Format(
    name: "Core ML package",
    sniff: { path in
      FileKind(path) == .folder && (path.hasExtension("mlpackage") || FileKind("\(path)/Manifest.json") == .file)
    },
    read: { (path, allowsLinks) throws(FormatError) in
      let package = try CoreMLPackage(path, allowsLinks: allowsLinks)
      let place = package.model.parentPath
      let files = ModelFiles(package.folder, place: "\(place)/")
      return try readCoreML(
        files.bytes(package.model.lastPathPart, model: path.lastPathPart), path: path, files: files,
        names: ["\(path)/Manifest.json", "\(path)/\(package.model)"])
    })

  /// The format of single model files.
  static let mlModel = Format(
    name: "Core ML model",
    sniff: { path in FileKind(path) == .file && path.hasExtension("mlmodel") },
    read: { (path, allowsLinks) throws(FormatError) in
      let files = ModelFiles(folder: path.parentPath, allowsLinks: allowsLinks)
      return try readCoreML(files.bytes(at: path), path: path, files: files, names: [path])
    })
}

/// Reads a Core ML model specification from memory.
///
/// - Parameters:
///   - path: The file or package, for errors.
///   - folder: The folder of the specification, `@model_path` in its weight references.
///   - files: The files that the program depends on besides its weight files.
package func readCoreML(
  _ bytes: Bytes, path: String, folder: String, files: [String]
) throws(FormatError) -> ModelProgram {
  try readCoreML(bytes, path: path, files: ModelFiles(folder: folder), names: files)
}

func readCoreML(
  _ bytes: Bytes, path: String, files: ModelFiles, names: [String]
) throws(FormatError) -> ModelProgram {
  let file = path.lastPathPart
  guard bytes.count > 0 else { throw FormatError(.malformed, file: file, "the model file is empty") }
  let model = try CoreMLModel(WireMessage(bytes, file: file))
  guard model.type == CoreMLSchema.Model.mlProgram else {
    return try readStages(of: model, file: file, path: path, files: files, names: names)
  }
  return try ModelProgram(
    MILProgram(model.contents), model.description, version: model.specificationVersion,
    place: ProgramLocation(path: path, files: files, names: names))
}

/// The origin of an ML Program.
struct ProgramLocation {
  /// The file or folder.
  let path: String
  let files: ModelFiles
  /// The paths of the files that hold the program, without its weights.
  let names: [String]
}

extension ModelProgram {
  /// Creates the model of a program.
  ///
  /// - Parameter description: The description of its features; if it is nil, the features are the tensors that the
  ///   program declares.
  init(
    _ program: MILProgram, _ description: CoreMLDescription?, version: Int, place: ProgramLocation
  ) throws(FormatError) {
    let file = place.path.lastPathPart
    var functions: [String: Function] = [:]
    for (name, function) in program.functions {
      let described = description?.functions[name] ?? (name == "main" ? description?.main : nil)
      functions[name] = try Function(function, name: name, described, file: file, files: place.files)
    }
    let standard = description?.defaultFunction ?? "main"
    guard let first = functions.keys.sorted().first else {
      throw FormatError(.malformed, file: file, "its program has no functions")
    }
    let isKnown = functions[standard] != nil
    self.init(
      functions: functions,
      defaultFunction: isKnown ? standard : functions["main"] == nil ? first : "main",
      metadata: description?.metadata ?? ModelMetadata(),
      structure: .program(functions: program.functions.mapValues(\.structure)),
      source: ModelSource(
        path: place.path, format: .mlProgram, version: version,
        files: place.names + program.blobFiles.filter(\.staysInside).map(place.files.path), opened: place.files.opened))
  }
}
