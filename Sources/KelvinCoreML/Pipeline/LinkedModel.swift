import KelvinBasics
import KelvinGraph
import KelvinImport

/// A model that names the file of another model, in the same folder or below it.
struct LinkedModel {
  /// The file name, which is that of a compiled model. The reader takes its source instead.
  private let name: String
  /// The folders to search, relative to the model.
  private let places: [String]
  private let files: ModelFiles
  private let file: String

  init(_ model: CoreMLModel, _ files: ModelFiles, file: String) throws(FormatError) {
    typealias Fields = ClassicalSchema.LinkedModelFile
    self.files = files
    self.file = file
    let link = try LayerParameters(model.contents).message(ClassicalSchema.LinkedModel.linkedModelFile)
    func text(_ field: Int) throws(FormatError) -> String {
      try link?.message(field)?.string(ClassicalSchema.StringParameter.defaultValue) ?? ""
    }
    name = try text(Fields.linkedModelFileName)
    let path = try text(Fields.linkedModelSearchPath)
    places = path.isEmpty ? ["."] : path.split(separator: ":").map(String.init)
    guard name.staysInside else {
      throw FormatError(
        .malformed, file: file, place: "linkedModel",
        "it names the file '\(name)', which is outside the model's folder",
        remedy: "put the files of a model into its folder or below it")
    }
  }

  /// Returns the linked model, and access to the files that it refers to itself.
  ///
  /// - Throws: `FormatError` if there is no such model, or only a version that needs Apple's frameworks.
  func read() throws(FormatError) -> (model: CoreMLModel, files: ModelFiles, file: String) {
    // A model in memory has no files beside it.
    _ = try files.below("", file: file)
    let known = ["mlmodelc", "mlpackage", "mlmodel"].first { name.hasExtension($0) }
    let stem = known.map { String(name.dropLast($0.count + 1)) } ?? name
    for place in places where place == "." || place.staysInside {
      let prefix = place == "." ? "" : "\(place)/"
      for candidate in [name, "\(stem).mlpackage", "\(stem).mlmodel"] {
        if let found = try model(prefix + candidate) { return found }
      }
    }
    throw FormatError(
      .unreadable, file: file, place: "linkedModel",
      "it links to another model, '\(name)', whose .mlmodel or .mlpackage is not in "
        + places.map { "'\($0)'" }.inWords,
      remedy: "put '\(stem).mlpackage' or '\(stem).mlmodel' beside the model; other folders, and Apple's "
        + "bundles, are not searched")
  }

  private func model(_ path: String) throws(FormatError) -> (model: CoreMLModel, files: ModelFiles, file: String)? {
    guard !path.hasExtension("mlmodelc"), files.contains(path) else { return nil }
    let own = path.lastPathPart
    guard path.hasExtension("mlpackage") else {
      let parts = path.split(separator: "/").dropLast().joined(separator: "/")
      let files = try files.below(parts, file: file)
      return (try CoreMLModel(WireMessage(try files.bytes(own, model: file), file: own)), files, own)
    }
    let package = try files.below(path, file: file)
    let model = try CoreMLPackage.model(package, file: own) { _ in [] }
    let inside = try package.below(model.split(separator: "/").dropLast().joined(separator: "/"), file: file)
    return (try CoreMLModel(WireMessage(try inside.bytes(model.lastPathPart, model: own), file: own)), inside, own)
  }
}
