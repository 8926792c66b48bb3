import Glibc

/// The control groups (containers, services) of this process, of both versions, read from the system's files.
struct ControlGroups {
  /// The folder of a group, and the version of its files.
  struct Group {
    var folder: String
    /// Whether the files are those of version 2 (`memory.max`), not of version 1 (`memory.limit_in_bytes`).
    var isUnified: Bool
  }

  /// The folder that stands for `/`.
  let root: String

  /// Returns the groups that control a resource (`cpu`, `memory`), and every group above them.
  func groups(controlling resource: String) -> [Group] {
    text("/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Group] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let isUnified = fields[1].isEmpty
      guard isUnified || fields[1].split(separator: ",").contains(resource[...]) else { return [] }
      let mount = "/sys/fs/cgroup" + (isUnified ? "" : "/\(resource)")
      let parts = String(fields[2]).pathParts.filter { $0 != ".." }
      return (0...parts.count).reversed().map { count in
        Group(folder: ([mount] + parts.prefix(count)).joined(separator: "/"), isUnified: isUnified)
      }
    }
  }

  /// Returns the contents of a file of the system, whose size is not known before; empty if it cannot be read.
  func text(_ path: String) -> String {
    let file = open((root + path).pathBytes, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 14)
    var count = 0
    while count < bytes.count,
      case let more = bytes.withUnsafeMutableBytes({ raw in
        read(file, raw.baseAddress.map { $0 + count }, raw.count - count)
      }), more > 0
    { count += more }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }
}
