import KelvinBasics
import KelvinGraph
import KelvinImport

extension Format {
  /// The format of folders that Apple's tools compile models into (`.mlmodelc`). The folder of an ML Program holds the
  /// program as text beside its weights. The compiled files of other kinds of models have no published format.
  static let compiledCoreML = Format(
    name: "compiled Core ML model",
    sniff: { path in
      FileKind(path) == .folder
        && (path.hasExtension("mlmodelc") || FileKind("\(path)/\(CompiledModel.program)") == .file)
    },
    read: { (path, allowsLinks) throws(FormatError) in
      try CompiledModel(path, allowsLinks: allowsLinks).read()
    })
}

/// A `.mlmodelc` folder.
struct CompiledModel {
  static let program = "model.mil"
  private static let metadata = "metadata.json"
  /// The files that tell that a folder was compiled from another kind of model, and names of these kinds.
  private static let others = [
    ("model.espresso.net", "a neural network"), ("model0", "a pipeline"),
    ("coremldata.bin", "a model of an older kind"),
  ]

  private let path: String
  private let folder: ModelFolder
  private let files: ModelFiles
  private var file: String { path.lastPathPart }

  init(_ path: String, allowsLinks: Bool) {
    self.path = path
    folder = ModelFolder(path: path, allowsLinks: allowsLinks)
    files = ModelFiles(folder)
  }

  func read() throws(FormatError) -> ModelProgram {
    guard folder.contains(Self.program) else { throw refusal }
    var names = [Self.program]
    var description: CompiledDescription?
    if folder.contains(Self.metadata) {
      names.append(Self.metadata)
      let bytes = try files.bytes(Self.metadata, model: file)
      description = try CompiledDescription(bytes, file: "\(file)/\(Self.metadata)")
    }
    let text = try files.bytes(Self.program, model: file)
    var reader = MILTextReader(text, file: "\(file)/\(Self.program)")
    return try ModelProgram(
      reader.program(), description?.contents, version: description?.specificationVersion ?? 0,
      place: ProgramLocation(path: path, files: files, names: names.map(files.path)))
  }

  /// The error for a folder that does not have the text of a program.
  private var refusal: FormatError {
    guard let kind = Self.others.first(where: { folder.contains($0.0) }) else {
      return FormatError(
        .malformed, file: file, "it holds no \(Self.program)",
        remedy: "expected a compiled model's folder; the copy may be incomplete")
    }
    return FormatError(
      .unsupported, file: file,
      "it was compiled from \(kind.1), to a format that only Apple's frameworks read (\(kind.0))",
      remedy: "use the .mlmodel or .mlpackage that it was compiled from")
  }
}
