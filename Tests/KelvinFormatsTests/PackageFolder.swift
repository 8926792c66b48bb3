import Glibc
import KelvinFormats
import KelvinGraph

/// A folder of the test's own, removed with the value's last owner.
final class TemporaryFolder {
  let path: String

  init() throws {
    var template = Array("\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/kelvin-formats-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw FixtureError("no temporary folder") }
    path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
  }

  deinit { remove(path) }

  private func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    guard let folder = opendir(path) else { return }
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { remove("\(path)/\(name)") }
    }
    closedir(folder)
    rmdir(path)
  }

  /// Writes a file, and the folders on the way to it.
  @discardableResult
  func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o755)
    }
    let file = "\(path)/\(name)"
    guard let handle = fopen(file, "w") else { throw FixtureError("cannot write \(file)") }
    defer { fclose(handle) }
    guard fwrite(bytes, 1, bytes.count, handle) == bytes.count else { throw FixtureError("cannot fill \(file)") }
    return file
  }

  @discardableResult
  func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }
}

/// A `.mlpackage` whose parts a test replaces or leaves out.
struct PackageFolder {
  var item = "com.apple.CoreML/model.mlmodel"
  var root = "MODEL"
  var model = MILFile.manifold.bytes
  var modelPath = "Data/com.apple.CoreML/model.mlmodel"
  var weights: [UInt8]? = MILFile.manifold.blobs.bytes

  func write(_ folder: TemporaryFolder) throws -> String {
    try folder.write(
      "m.mlpackage/Manifest.json",
      #"{"fileFormatVersion":"1.0.0","itemInfoEntries":{"MODEL":{"path":"\#(item)"}},"rootModelIdentifier":"\#(root)"}"#
    )
    try folder.write("m.mlpackage/\(modelPath)", model)
    if let weights { try folder.write("m.mlpackage/Data/com.apple.CoreML/weights/weight.bin", weights) }
    return "\(folder.path)/m.mlpackage"
  }

  /// The error that reading the package and building its graph ends in.
  func error() throws -> FormatError? {
    let folder = try TemporaryFolder()
    let path = try write(folder)
    do {
      _ = try readModel(at: path).graph()
      return nil
    } catch let error as FormatError { return error }
  }
}
