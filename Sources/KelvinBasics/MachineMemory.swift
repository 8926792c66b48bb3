import Glibc

/// The memory that the machine, its control groups (containers, services) and `ulimit` leave to this process.
package struct MachineMemory: Sendable {
  private let files: ControlGroups

  /// - Parameter root: The folder that stands for `/` when the system's files are read.
  package init(root: String = "") { files = ControlGroups(root: root) }

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
    files.groups(controlling: "memory").compactMap { group in
      let (limit, used, reclaimable) =
        group.isUnified
        ? ("memory.max", "memory.current", "inactive_file")
        : ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
      // A group without a limit says "max", or has no such file.
      guard let most = bytes("\(group.folder)/\(limit)") else { return nil }
      let taken = bytes("\(group.folder)/\(used)") ?? 0
      let cached = value(reclaimable, in: "\(group.folder)/memory.stat").map { Int(clamping: $0) } ?? 0
      return Group(limit: most, free: max(most - max(taken - cached, 0), 0))
    }
  }

  /// Returns the number behind a name at the beginning of a line.
  private func value(_ name: String, in path: String) -> UInt64? {
    for line in files.text(path).split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count > 1, words[0] == name { return UInt64(words[1]) }
    }
    return nil
  }

  private func bytes(_ path: String) -> Int? {
    UInt64(files.text(path).prefix { !$0.isWhitespace }).map { Int(clamping: $0) }
  }
}
