import Glibc

/// The processors that the machine, the affinity mask and the control groups (containers, services) leave to this
/// process.
package struct MachineProcessors: Sendable, Hashable {
  /// The processors on which the kernel schedules.
  package let online: Int
  /// The processors of the calling thread's affinity mask (`taskset`, cpusets).
  package let allowed: Int
  /// The processor time per second that the control groups permit, as a number of processors; nil without a quota.
  package let quota: Double?

  /// - Parameters:
  ///   - root: the folder that stands for `/` when the system's files are read.
  ///   - online: nil for those of this machine.
  package init(root: String = "", online: Int? = nil) {
    let online = online ?? max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let groups = ControlGroups(root: root)
    self.online = online
    allowed = min(online, groups.allowedProcessors ?? online)
    quota = groups.groups(controlling: "cpu").compactMap { groups.quota($0) }.min()
  }

  /// The number of threads that can run at the same time for longer than a quota's period; at least 1.
  package var usable: Int { max(1, min(allowed, quota.map { Int(min($0, 1e6).rounded(.up)) } ?? allowed)) }

  /// The reason why fewer than all processors are usable: `affinity mask`, `quota of 1.5 processors`; nil if all are.
  package var limit: String? {
    if let quota, quota < Double(allowed) {
      return "quota of \(HumanReadable.significant(quota)) processor\(quota == 1 ? "" : "s")"
    }
    return allowed < online ? "affinity mask" : nil
  }
}

extension ControlGroups {
  /// The number of processors in the calling thread's affinity mask; nil if the kernel does not report it. A mask may
  /// contain processors that are not online.
  fileprivate var allowedProcessors: Int? {
    let name = "Cpus_allowed_list:"
    let line = text("/proc/thread-self/status").split(separator: "\n").first { $0.hasPrefix(name) }
    guard let mask = line.flatMap({ Self.processors($0.dropFirst(name.count)) }), !mask.isEmpty else { return nil }
    let online = Self.processors(text("/sys/devices/system/cpu/online")[...])
    let count = online.map { mask.intersection($0).count } ?? mask.count
    return count > 0 ? count : nil
  }

  /// Returns the members of a list such as `0-3,8`; nil if it is malformed.
  private static func processors(_ list: Substring) -> Set<Int>? {
    var found: Set<Int> = []
    for range in list.filter({ !$0.isWhitespace }).split(separator: ",", omittingEmptySubsequences: false) {
      let ends = range.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
      guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1], 0 <= first, first <= last,
        last < 1 << 16
      else { return nil }
      found.formUnion(first...last)
    }
    return found
  }

  /// Returns a group's quota as a number of processors; nil without one, or if its files are malformed.
  ///
  /// Source: Linux `Documentation/admin-guide/cgroup-v2.rst` and `Documentation/scheduler/sched-bwc.rst`.
  fileprivate func quota(_ group: Group) -> Double? {
    let words: [Substring]
    if group.isUnified {
      // "max 100000" is a group without a quota.
      words = text("\(group.folder)/cpu.max").split(whereSeparator: \.isWhitespace)
    } else {
      words = ["cpu.cfs_quota_us", "cpu.cfs_period_us"].flatMap {
        text("\(group.folder)/\($0)").split(whereSeparator: \.isWhitespace).prefix(1)
      }
    }
    guard words.count == 2, let quota = Int(words[0]), let period = Int(words[1]), quota > 0, period > 0 else {
      return nil
    }
    return Double(quota) / Double(period)
  }
}
