import Glibc
import KelvinBasics

/// The machine a measurement was made on.
package struct MachineDescription: Sendable, Hashable, Codable {
  /// The processor's own name, e.g. `Intel(R) Xeon(R) Platinum 8480+`.
  package var processor: String
  /// `x86_64`, `aarch64`.
  package var architecture: String
  /// The number of processors on which the kernel schedules.
  package var logicalCores: Int
  package var memoryBytes: Int
  /// The kernel's release, e.g. `6.1.0-18-amd64`.
  package var kernel: String
  /// Whether the machine is a virtual machine, whose sensors and clocks do not describe the hardware.
  package var isVirtualised: Bool
  /// The power source at the start of the measurement; nil in documents without it.
  package var powerSource: PowerSource?
  /// The number of processors that the process could use, if fewer than all.
  package var usableCores: Int?
  /// The reason why fewer are usable: `affinity mask`, `quota of 1.5 processors`. Nil if all processors were usable.
  package var coreLimit: String?

  package init(
    processor: String, architecture: String, logicalCores: Int, memoryBytes: Int, kernel: String, isVirtualised: Bool,
    powerSource: PowerSource? = nil
  ) {
    self.processor = processor
    self.architecture = architecture
    self.logicalCores = logicalCores
    self.memoryBytes = memoryBytes
    self.kernel = kernel
    self.isVirtualised = isVirtualised
    self.powerSource = powerSource
  }

  /// Reads `/proc` and `/sys` below the root. Values that cannot be read are "unknown" or zero.
  package init(_ files: SystemFiles) {
    let cpuinfo = files.text("proc/cpuinfo", limit: 16 << 20) ?? ""
    var fields: [String: String] = [:]
    var listed = 0
    for line in cpuinfo.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 1)
      guard let name = parts.first.map({ SystemFiles.trimmed(String($0)) }) else { continue }
      if name == "processor" { listed += 1 }
      if fields[name] == nil { fields[name] = parts.count > 1 ? SystemFiles.trimmed(String(parts[1])) : "" }
    }
    let board = files.text("proc/device-tree/model") ?? fields["Model"]
    processor = fields["model name"] ?? fields["Hardware"] ?? board ?? "unknown"
    logicalCores = listed
    kernel = files.text("proc/sys/kernel/osrelease") ?? "unknown"
    architecture = Self.hostArchitecture
    let memory = (files.text("proc/meminfo") ?? "").split(separator: "\n").first { $0.hasPrefix("MemTotal:") }
    let kibibytes = memory?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    memoryBytes = kibibytes.multipliedReportingOverflow(by: 1024).overflow ? 0 : kibibytes * 1024
    let flags = (fields["flags"] ?? "").split(separator: " ")
    let vendor = (files.text("sys/class/dmi/id/sys_vendor") ?? "").lowercased()
    let hypervisors = ["qemu", "kvm", "vmware", "xen", "virtualbox", "innotek", "parallels", "amazon ec2", "google"]
    isVirtualised =
      flags.contains("hypervisor") || files.text("sys/hypervisor/type") != nil
      || hypervisors.contains { vendor.contains($0) }
    powerSource = PowerSource(files)
    let processors = files.processors(of: logicalCores)
    coreLimit = processors.limit
    usableCores = coreLimit == nil ? nil : processors.usable
  }

  /// The description that does not depend on memory, kernel or power supply: `Intel(R) Xeon(R) …, 2 cores`.
  package var hardware: String { "\(processor), \(logicalCores == 1 ? "1 core" : "\(logicalCores) cores")" }

  /// One line for people: `Intel(R) Xeon(R) …, 2 cores, 7.8 GiB, Linux 6.1.0, virtual machine`, with `on battery` and
  /// `1 core usable (affinity mask)` if applicable.
  package var summary: String {
    var parts = [hardware]
    if memoryBytes > 0 { parts.append(HumanReadable.bytes(memoryBytes)) }
    parts.append("Linux \(kernel)")
    if isVirtualised { parts.append("virtual machine") }
    if powerSource == .battery { parts.append("on battery") }
    if let coreLimit, let usableCores {
      parts.append("\(usableCores == 1 ? "1 core" : "\(usableCores) cores") usable (\(coreLimit))")
    }
    return parts.joined(separator: ", ")
  }

  /// The summary of a report: with the power source, unless the description lacks it.
  package var reportSummary: String {
    switch powerSource {
    case .mains: "\(summary), on mains"
    case .unknown: "\(summary), power source unknown"
    case .battery, nil: summary
    }
  }

  /// The number of processors that the process can use at a time, at least 1.
  package var workingCores: Int { max(1, usableCores ?? logicalCores) }

  /// The architecture for which this binary was built.
  package static var hostArchitecture: String {
    #if arch(x86_64)
    "x86_64"
    #elseif arch(arm64)
    "aarch64"
    #else
    "unknown"
    #endif
  }
}
