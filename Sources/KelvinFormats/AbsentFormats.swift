import KelvinBasics
import KelvinGraph

// What stands for the readers of formats whose traits of the package are off: who is given such a file says so.

#if !CoreML
extension Format {
  static let absentCoreML = Format(
    name: "Core ML",
    sniff: { path in
      path.hasExtension("mlpackage") || path.hasExtension("mlmodelc") || path.hasExtension("mlmodel")
        || FileKind("\(path)/Manifest.json") == .file
    },
    read: { (path, _) throws(FormatError) in throw FormatError(withoutTrait: "CoreML", file: path.lastPathPart) })
}

func readCoreML(
  _ bytes: Bytes, path: String, files: ModelFiles, names: [String]
) throws(FormatError) -> ModelProgram {
  throw FormatError(withoutTrait: "CoreML", file: path.lastPathPart)
}
#endif

#if !ONNX
extension Format {
  static let absentONNX = Format(
    name: "ONNX",
    sniff: { path in path.hasExtension("onnx") },
    read: { (path, _) throws(FormatError) in throw FormatError(withoutTrait: "ONNX", file: path.lastPathPart) })
}

func readONNX(_ bytes: Bytes, path: String, files: ModelFiles) throws(FormatError) -> ModelProgram {
  throw FormatError(withoutTrait: "ONNX", file: path.lastPathPart)
}
#endif

#if !CoreML || !ONNX
extension FormatError {
  fileprivate init(withoutTrait trait: String, file: String) {
    self.init(
      .unsupported, file: file, "this program was built without the trait '\(trait)' of the package Kelvin",
      remedy: "name the trait where the package is required")
  }
}
#endif
