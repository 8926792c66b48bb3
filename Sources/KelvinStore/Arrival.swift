import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinPackaging

/// A download that becomes a version: unpacked if it is an archive, and read once, so that only models arrive.
struct Arrival {
  /// The path of the model below the folder of the version.
  let model: String
  /// The size of the files.
  let byteCount: Int

  /// The folder for the contents of an archive.
  private static let contents = "files"
  private static let endings = ["mlpackage", "mlmodelc", "mlmodel", "onnx", "kelvinmodel"]

  /// Moves a download into the folder of a version that arrives, or unpacks it there.
  ///
  /// - Parameters:
  ///   - download: The path of the complete download.
  ///   - name: The name of the model in the store, for a package whose archive has no folder.
  /// - Throws: `invalid` if it is not a model or an archive of one model; `io`, `noSpace`.
  init(_ download: String, _ address: ModelAddress, as name: String, in folder: String) throws(StoreError) {
    if Archive.recognizes(download) {
      model = try Self.unpack(download, address, as: name, in: folder)
    } else {
      try StoreFolder.move(download, to: "\(folder)/\(address.fileName)")
      model = address.fileName
    }
    try Self.check("\(folder)/\(model)", address)
    byteCount = StoreFolder.byteCount(folder)
  }

  /// - Returns: The path of the model below the folder.
  private static func unpack(
    _ download: String, _ address: ModelAddress, as name: String, in folder: String
  ) throws(StoreError) -> String {
    let place = "\(folder)/\(contents)"
    try StoreFolder.makeFolder(place)
    do throws(PackagingError) { try Archive.unpack(download, into: place) } catch {
      throw StoreError(error, "'\(address.source)' cannot be unpacked")
    }
    // Archives that macOS makes have a second tree with attributes of the files.
    let entries = StoreFolder.entries(place).filter { !$0.hasPrefix(".") && $0 != "__MACOSX" }
    if entries.contains("Manifest.json") || entries.contains("model.mil") {
      let package = "\(name).\(entries.contains("model.mil") ? "mlmodelc" : "mlpackage")"
      try StoreFolder.move(place, to: "\(folder)/\(package)")
      return package
    }
    let models = found(in: place, "", depth: 2)
    guard models.count == 1 else {
      throw StoreError(
        .invalid, "'\(address.source)' has \(models.isEmpty ? "no model" : models.inWords), expected one model")
    }
    return "\(contents)/\(models[0])"
  }

  /// Returns the paths of the models in a folder, relative to it.
  private static func found(in folder: String, _ prefix: String, depth: Int) -> [String] {
    StoreFolder.entries(folder).filter { !$0.hasPrefix(".") && $0 != "__MACOSX" }.flatMap { entry in
      if endings.contains(where: { entry.lowercased().hasSuffix(".\($0)") }) { return [prefix + entry] }
      return depth > 0 ? found(in: "\(folder)/\(entry)", "\(prefix)\(entry)/", depth: depth - 1) : []
    }
  }

  /// Reads the model, in the process that the caller's isolation demands. An encrypted one is not read, for want of its
  /// key.
  private static func check(_ path: String, _ address: ModelAddress) throws(StoreError) {
    guard !EncryptedModels.recognizes(path) else { return }
    do throws(ModelError) { _ = try ReadModel(contentsOf: URL(filePath: path)) } catch {
      let reason = error.code == .predictionCancelled ? StoreError.Code.cancelled : .invalid
      throw StoreError(reason, "'\(address.source)' is not a model that can be used: \(error)")
    }
  }
}
