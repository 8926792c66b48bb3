import KelvinDevices
import KelvinFeatures
package import KelvinMeasurements
package import KelvinRuntime

/// The reasons why a plan describes another machine. The plan can be shown, but not run or adopted unless its devices
/// are present.
package struct WhatIf: Sendable, Hashable, Encodable {
  /// The kind of the profile: `sample`, or `measured` on another machine.
  package var label: MeasuredProfile.Label
  /// The note in the profile.
  package var note: String?
  package var machine: String
  package var reasons: [String]

  /// - Returns: nil if everything the profile measured is present and unchanged, and no link is overridden.
  package init?(_ profile: MeasuredProfile?, inventory: DeviceInventory, links: [String] = []) {
    let here = MachineDescription(SystemFiles())
    reasons = links.map { "the link \($0) is hypothetical" }
    guard let profile else {
      guard !links.isEmpty else { return nil }
      (label, note, machine) = (.measured, nil, here.summary)
      return
    }
    if profile.label == .sample {
      reasons.append("the profile is a sample and describes no real machine")
    } else {
      let stale = profile.staleness(
        kelvinVersion: kelvinVersion, machine: here,
        devices: inventory.devices(named: profile.devices.map(\.id)).map(\.info.identity))
      reasons += stale.map(\.description)
    }
    guard !reasons.isEmpty else { return nil }
    (label, note, machine) = (profile.label, profile.note, profile.machine.summary)
  }
}

/// The devices to plan for and their costs, as the options request: of this machine or of a profile.
struct PricedInventory {
  var inventory: DeviceInventory
  var costs: CostSheet
  var whatIf: WhatIf?
  /// The thread count that replaces the request's; nil to keep it.
  var threads: Int?
  var remarks: [String] = []

  /// - Throws: `invalidChoice` for a sample profile unless what-if plans are allowed, a profile without a host, or a
  ///   link that cannot be parsed.
  init(_ options: LoadOptions, _ present: DeviceInventory) throws(RuntimeError) {
    inventory = present
    whatIf = WhatIf(options.profile, inventory: present, links: options.links)
    guard let profile = options.profile, let strange = WhatIf(profile, inventory: present) else {
      costs = try CostSheet(options.profile).with(links: options.links, devices: present)
      return
    }
    if options.allowsWhatIf {
      threads = options.isThreadCountGiven ? nil : profile.threads
      inventory = try DeviceInventory(whatIf: CostSheet(profile), threads: threads ?? options.request.threads)
      costs = try CostSheet(profile).with(links: options.links, devices: inventory)
      return
    }
    guard profile.label == .measured else {
      throw .invalidChoice("the profile is a sample and describes no real machine: only 'kelvin plan' takes it")
    }
    let stale = profile.staleness(
      kelvinVersion: kelvinVersion, machine: MachineDescription(SystemFiles()),
      devices: present.devices(named: profile.devices.map(\.id)).map(\.info.identity))
    costs = try CostSheet(profile.removing(stale)).with(links: options.links, devices: present)
    remarks = strange.reasons.map { "measurements of the profile were ignored: \($0)" }
  }
}
