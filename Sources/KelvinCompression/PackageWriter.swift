import Glibc
import Kelvin
import KelvinBasics
import KelvinImport

/// Writes Core ML packages, and models in one file.
enum PackageWriter {
  /// Writes a package or a file, which appears under its name when it is complete.
  ///
  /// - Returns: The number of bytes of its files.
  /// - Throws: `FileError`; with `EEXIST` if there is a file or folder of that name.
  static func write(_ copy: ModelCopy, to path: String) throws(FileError) -> Int {
    let path = path.hasSuffix("/") ? String(path.dropLast()) : path
    guard FileKind(path) == .absent else { throw FileError(path: path, action: "write", code: EEXIST) }
    guard let weights = copy.weights else {
      let file = try AtomicFileWriter(path)
      try file.write(copy.model)
      try file.finish()
      return copy.byteCount
    }
    let place = "\(path).writing-\(getpid())"
    do throws(FileError) {
      for folder in ["", "/Data", "/Data/com.apple.CoreML", "/Data/com.apple.CoreML/weights"] {
        guard mkdir((place + folder).pathBytes, 0o755) == 0 else {
          throw FileError(path: path, action: "write", code: errno)
        }
      }
      let manifest = [UInt8](manifest.utf8)
      for (name, bytes) in [
        ("Manifest.json", manifest), ("Data/com.apple.CoreML/model.mlmodel", copy.model),
        ("Data/com.apple.CoreML/weights/weight.bin", weights),
      ] {
        let file = try AtomicFileWriter("\(place)/\(name)")
        try file.write(bytes)
        try file.finish()
      }
      guard rename(place.pathBytes, path.pathBytes) == 0 else {
        throw FileError(path: path, action: "write", code: errno == ENOTEMPTY ? EEXIST : errno)
      }
      return copy.byteCount
    } catch {
      for name in [
        "Manifest.json", "Data/com.apple.CoreML/model.mlmodel", "Data/com.apple.CoreML/weights/weight.bin",
      ] {
        unlink("\(place)/\(name)".pathBytes)
      }
      for folder in ["/Data/com.apple.CoreML/weights", "/Data/com.apple.CoreML", "/Data", ""] {
        rmdir((place + folder).pathBytes)
      }
      throw error
    }
  }

  /// The number of bytes of the manifest.
  static var manifestByteCount: Int { manifest.utf8.count }

  /// The manifest of a package with a model file and a folder of weights.
  private static let manifest = """
    {
      "fileFormatVersion": "1.0.0",
      "itemInfoEntries": {
        "A9E1A1A4-2F6B-4B5C-9C0E-6C3E3C7C0001": {
          "author": "com.apple.CoreML",
          "description": "CoreML Model Specification",
          "name": "model.mlmodel",
          "path": "com.apple.CoreML/model.mlmodel"
        },
        "A9E1A1A4-2F6B-4B5C-9C0E-6C3E3C7C0002": {
          "author": "com.apple.CoreML",
          "description": "CoreML Model Weights",
          "name": "weights",
          "path": "com.apple.CoreML/weights"
        }
      },
      "rootModelIdentifier": "A9E1A1A4-2F6B-4B5C-9C0E-6C3E3C7C0001"
    }

    """
}
