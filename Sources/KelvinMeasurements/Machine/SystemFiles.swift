import Glibc
package import KelvinBasics

/// Read access to the kernel's text files below a root: "/" on a machine, a fixture folder in a test.
package struct SystemFiles: Sendable, Hashable {
  package let root: String

  package init(root: String = "/") {
    self.root = root.hasSuffix("/") ? root : root + "/"
  }

  /// Whether the root is that of the machine.
  package var isMachine: Bool { root == "/" }

  /// The reason for which a file could not be read.
  package enum Failure: Error, Hashable, CustomStringConvertible {
    case system(Int32)
    /// The file is longer than the limit; the value is the number of bytes read so far.
    case tooLong(Int)

    package var description: String {
      switch self {
      case .system(let code): String(cString: strerror(code))
      case .tooLong(let bytes): "longer than \(bytes) bytes"
      }
    }

    /// Whether the file exists but the user may not read it.
    package var isDenied: Bool { self == .system(EACCES) || self == .system(EPERM) }
  }

  /// Returns the bytes at `path` (relative to the root), at most `limit`.
  package func bytes(_ path: String, limit: Int = 1 << 20) -> Result<[UInt8], Failure> {
    let descriptor = open((root + path).pathBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .failure(.system(errno)) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let got = read(descriptor, &chunk, chunk.count)
      if got < 0 {
        if errno == EINTR { continue }
        return .failure(.system(errno))
      }
      if got == 0 { return .success(bytes) }
      bytes += chunk.prefix(got)
      guard bytes.count <= limit else { return .failure(.tooLong(bytes.count)) }
    }
  }

  /// Returns the string at `path` (relative to the root), without surrounding white space. Nil when the file is absent,
  /// unreadable, longer than `limit` bytes or not UTF-8: sensors may disappear, so a missing value is not an error.
  package func text(_ path: String, limit: Int = 1 << 20) -> String? {
    guard case .success(let bytes) = bytes(path, limit: limit) else { return nil }
    return String(validating: bytes, as: UTF8.self).map { Self.trimmed($0) }
  }

  /// The peak resident memory of this process in bytes (`VmHWM`; `ru_maxrss` starts with the parent's value). Nil when
  /// the kernel does not report it.
  package var peakResidentBytes: Int? {
    let line = text("proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }

  /// Returns the processors that this process may use.
  ///
  /// - Parameter listed: the processors of a fixture.
  package func processors(of listed: Int) -> MachineProcessors {
    isMachine ? MachineProcessors() : MachineProcessors(root: root, online: max(1, listed))
  }

  package func integer(_ path: String) -> Int? { text(path, limit: 4096).flatMap { Int($0) } }

  /// Returns the names in the folder `path`, with numbers ordered by value (`temp2` before `temp10`). Empty when the
  /// folder does not exist.
  package func names(in path: String, prefix: String = "") -> [String] {
    guard let folder = opendir(root + path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != "..", name.hasPrefix(prefix) { found.append(name) }
    }
    return found.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }
  }

  static func trimmed(_ text: String) -> String {
    let blank: (Character) -> Bool = { $0.isWhitespace || $0 == "\0" }
    guard let first = text.firstIndex(where: { !blank($0) }), let last = text.lastIndex(where: { !blank($0) }) else {
      return ""
    }
    return String(text[first...last])
  }
}
