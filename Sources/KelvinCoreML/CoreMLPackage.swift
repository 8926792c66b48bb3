import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinImport

/// A `.mlpackage` folder: `Manifest.json` names the item that holds the model.
struct CoreMLPackage {
  /// The path of the model specification, from the package.
  let model: String
  let folder: ModelFolder

  private struct Manifest: Decodable {
    struct Item: Decodable { let path: String }
    let itemInfoEntries: [String: Item]
    let rootModelIdentifier: String
  }

  init(_ path: String, allowsLinks: Bool) throws(FormatError) {
    folder = ModelFolder(path: path, allowsLinks: allowsLinks)
    model = try Self.model(ModelFiles(folder), file: path.lastPathPart) { [folder] place throws(FormatError) in
      try folder.names(in: place)
    }
  }

  /// Returns the path, from the package, of the model specification that the package's manifest names.
  ///
  /// - Parameter names: Returns the names of the files in a folder of the package.
  static func model(
    _ files: ModelFiles, file: String, names: (String) throws(FormatError) -> [String]
  ) throws(FormatError) -> String {
    let bytes = try files.bytes("Manifest.json", model: file)
    guard bytes.count < 1 << 24 else {
      throw FormatError(.malformed, file: "\(file)/Manifest.json", "it has \(bytes.count) bytes")
    }
    let manifest: Manifest
    do {
      manifest = try JSONText.decode(Manifest.self, from: bytes.withUnsafeBytes { Data($0) })
    } catch {
      throw FormatError(
        .malformed, file: "\(file)/Manifest.json", "it is not a package manifest: \(error)",
        remedy: "expected JSON with itemInfoEntries and rootModelIdentifier")
    }
    let item = manifest.itemInfoEntries[manifest.rootModelIdentifier]?.path
    if let item {
      guard item.staysInside else {
        throw FormatError(.malformed, file: "\(file)/Manifest.json", "its model '\(item)' is outside the package")
      }
      if files.contains("Data/\(item)") { return "Data/\(item)" }
    }
    let place = "Data/com.apple.CoreML"
    let candidates = try names(place).filter { $0.hasExtension("mlmodel") }
    guard candidates.count == 1 else {
      throw FormatError(
        .malformed, file: "\(file)/Manifest.json",
        "its root model '\(item ?? manifest.rootModelIdentifier)' is not in the package",
        remedy: "found \(candidates.count) models in Data/com.apple.CoreML, expected one")
    }
    return "\(place)/\(candidates[0])"
  }
}
