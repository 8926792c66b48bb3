import Foundation
import PackagePlugin

/// Writes a Swift class for each model among the sources and resources of a target, with `kelvin generate`.
@main struct KelvinModels: BuildToolPlugin {
  /// The file in the target's folder that chooses the access level and the dialect: `{"access": "public"}`.
  static let optionsFile = ".kelvin-models.json"

  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let module = target as? any SourceModuleTarget else { return [] }
    let tool = try context.tool(named: "kelvin").url
    let options = module.directoryURL.appending(path: Self.optionsFile)
    let hasOptions = FileManager.default.fileExists(atPath: options.path)
    let arguments = hasOptions ? try Self.arguments(options) : []
    var models: [String: URL] = [:]
    // A folder that is copied as a resource is one file to the target, so its models are found in the file system.
    for model in Self.models(in: module.directoryURL) {
      let name = model.deletingPathExtension().lastPathComponent
      if let other = models.updateValue(model, forKey: name) {
        throw PluginFailure(
          "\(other.lastPathComponent) and \(model.lastPathComponent) of the target \(module.name) give one class "
            + "'\(name)'; rename one of them")
      }
    }
    return models.sorted { $0.key < $1.key }.map { name, model in
      let source = context.pluginWorkDirectoryURL.appending(path: "\(name).swift")
      let path = model.path.dropFirst(module.directoryURL.path.count).drop { $0 == "/" }
      return .buildCommand(
        displayName: "Writing the class of \(model.lastPathComponent)", executable: tool,
        arguments: ["generate", model.path, "--output", source.path, "--resource", String(path)] + arguments,
        inputFiles: Self.specification(of: model) + (hasOptions ? [options] : []), outputFiles: [source])
    }
  }

  /// The models below a folder, sorted by path.
  private static func models(in folder: URL) -> [URL] {
    let entries = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
    return entries.sorted { $0.path < $1.path }.flatMap { entry in
      if ["mlpackage", "mlmodelc", "mlmodel", "onnx"].contains(entry.pathExtension) { return [entry] }
      return isFolder(entry) && !entry.lastPathComponent.hasPrefix(".") ? models(in: entry) : []
    }
  }

  /// The files that describe a model. Weights do not change its class.
  private static func specification(of model: URL) -> [URL] {
    guard isFolder(model), let files = FileManager.default.enumerator(atPath: model.path) else { return [model] }
    return files.compactMap { $0 as? String }.sorted().map { model.appending(path: $0) }.filter { file in
      ["mlmodel", "mil", "json"].contains(file.pathExtension) || file.lastPathComponent == "coremldata.bin"
    }
  }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
  }

  /// The arguments of the command for the choices in the file.
  private static func arguments(_ file: URL) throws -> [String] {
    guard let choices = try? JSONDecoder().decode([String: String].self, from: Data(contentsOf: file)),
      Set(choices.keys).isSubset(of: ["access", "dialect"])
    else {
      throw PluginFailure(
        #"\#(file.path) is not valid; write {"access": "public", "dialect": "kelvin"}, or only one of the two"#)
    }
    return choices.sorted { $0.key < $1.key }.flatMap { ["--\($0.key)", $0.value] }
  }
}

/// An error that ends the build.
struct PluginFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
