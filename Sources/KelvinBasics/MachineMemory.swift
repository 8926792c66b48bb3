import Glibc

/// The memory that the machine, its control groups (containers, services) and `ulimit` leave to this process.
package struct MachineMemory: Sendable {
  private let root: String

  /// - Parameter root: The folder that stands for `/` when the system's files are read.
  package init(root: String = "") { self.root = root }

  /// The most memory that the process could ever use, in bytes.
  package var total: Int {
    let physical = sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))
    return ([physical] + groups.map(\.limit) + resourceLimits).min() ?? physical
  }

  /// The memory that is free now, in bytes; nil if the system does not tell.
  package var free: Int? { ([available].compactMap(\.self) + groups.map(\.free) + resourceLimits).min() }

  private var resourceLimits: [Int] {
    [RLIMIT_AS, RLIMIT_DATA].compactMap { resource in
      var bounds = rlimit()
      return getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 ? Int(clamping: bounds.rlim_cur) : nil
    }
  }

  private var available: Int? { value("MemAvailable:", in: "/proc/meminfo").map { Int(clamping: $0) &* 1024 } }

  private struct Group {
    var limit: Int
    var free: Int
  }

  /// The control groups of the process that limit memory, and those above them.
  private var groups: [Group] {
    text("/proc/self/cgroup").split(separator: "\n").flatMap { line -> [Group] in
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { return [] }
      let path = String(fields[2])
      if fields[1].isEmpty {
        return groups(
          "/sys/fs/cgroup", path, limit: "memory.max", used: "memory.current", reclaimable: "inactive_file")
      }
      guard fields[1].split(separator: ",").contains("memory") else { return [] }
      return groups(
        "/sys/fs/cgroup/memory", path, limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes",
        reclaimable: "total_inactive_file")
    }
  }

  private func groups(
    _ mount: String, _ path: String, limit: String, used: String, reclaimable: String
  ) -> [Group] {
    var groups: [Group] = []
    var parts = path.pathParts.filter { $0 != ".." }
    while true {
      let folder = ([mount] + parts).joined(separator: "/")
      // A group without a limit says "max", or has no such file.
      if let most = UInt64(word(text("\(folder)/\(limit)"))).map({ Int(clamping: $0) }) {
        let taken = UInt64(word(text("\(folder)/\(used)"))).map { Int(clamping: $0) } ?? 0
        let cached = value(reclaimable, in: "\(folder)/memory.stat").map { Int(clamping: $0) } ?? 0
        groups.append(Group(limit: most, free: max(most - max(taken - cached, 0), 0)))
      }
      guard !parts.isEmpty else { return groups }
      parts.removeLast()
    }
  }

  /// Returns the number behind a name at the beginning of a line.
  private func value(_ name: String, in path: String) -> UInt64? {
    for line in text(path).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 1, words[0] == name { return UInt64(words[1]) }
    }
    return nil
  }

  private func word(_ text: String) -> Substring { text.prefix { !$0.isWhitespace } }

  /// Returns the contents of a file of the system, whose size is not known before; empty if it cannot be read.
  private func text(_ path: String) -> String {
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
