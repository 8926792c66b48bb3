import KelvinEngine
import KelvinImport
import TestSupport

/// A `.mlpackage` whose parts a test replaces or leaves out.
struct PackageFolder {
  var item = "com.apple.CoreML/model.mlmodel"
  var root = "MODEL"
  var model = MILFile.manifold.bytes
  var modelPath = "Data/com.apple.CoreML/model.mlmodel"
  var weights: [UInt8]? = MILFile.manifold.blobs.bytes

  func write(_ folder: TemporaryFolder) -> String {
    folder.write(
      #"{"fileFormatVersion":"1.0.0","itemInfoEntries":{"MODEL":{"path":"\#(item)"}},"rootModelIdentifier":"\#(root)"}"#,
      "m.mlpackage/Manifest.json")
    folder.write(model, "m.mlpackage/\(modelPath)")
    if let weights { folder.write(weights, "m.mlpackage/Data/com.apple.CoreML/weights/weight.bin") }
    return "\(folder.path)/m.mlpackage"
  }

  /// The error that reading the package and building its graph ends in.
  func error() throws -> FormatError? {
    let folder = TemporaryFolder()
    let path = write(folder)
    do {
      _ = try readModel(at: path).graph()
      return nil
    } catch let error as FormatError { return error }
  }
}
