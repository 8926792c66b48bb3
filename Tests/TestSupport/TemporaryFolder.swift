import Glibc

/// A folder for one test, removed with the last reference.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/kelvin-test-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? "/nonexistent"
    }
  }

  deinit { Self.remove(path) }

  /// Writes a file and returns its path; folders in `name` are made.
  @discardableResult
  package func write(_ bytes: [UInt8], _ name: String) -> String {
    let target = "\(path)/\(name)"
    var folder = path
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o755)
    }
    guard let file = fopen(target, "wb") else { return target }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    return target
  }

  @discardableResult
  package func write(_ text: String, _ name: String) -> String { write(Array(text.utf8), name) }

  /// A copy of a file or folder, at `name`.
  package func copy(_ source: String, as name: String) -> String {
    let target = "\(path)/\(name)"
    if let entries = Self.entries(source) {
      mkdir(target, 0o755)
      for entry in entries { _ = copy("\(source)/\(entry)", as: "\(name)/\(entry)") }
    } else {
      write(Self.read(source), name)
    }
    return target
  }

  package static func read(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer.prefix(count) }
    return bytes
  }

  /// Every file below a folder.
  package static func files(_ path: String) -> [String] {
    guard let entries = entries(path) else { return [path] }
    return entries.flatMap { files("\(path)/\($0)") }
  }

  /// The names in a folder, sorted; nil where the path is not a folder.
  package static func entries(_ path: String) -> [String]? {
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// Links are removed, not followed.
  private static func remove(_ path: String) {
    guard unlink(path) != 0 else { return }
    for entry in entries(path) ?? [] { remove("\(path)/\(entry)") }
    rmdir(path)
  }
}
