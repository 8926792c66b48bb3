import KelvinDevices
import KelvinFeatures
package import KelvinMeasurements
import KelvinPlanning
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
      reasons += profile.staleness(here, inventory).map(\.description)
    }
    guard !reasons.isEmpty else { return nil }
    (label, note, machine) = (profile.label, profile.note, profile.machine.summary)
  }
}

extension LoadOptions {
  /// Returns the devices to plan for and their costs: of this machine, or of the profile that the options give. For a
  /// plan of another machine, the request takes over the profile's thread count unless the user gave one.
  ///
  /// - Parameter cache: has the measurements of this machine.
  /// - Returns: the devices and costs, and remarks for the user about measurements that were not used.
  /// - Throws: `invalidChoice` for a sample profile unless what-if plans are allowed, a profile without a host, or a
  ///   link that cannot be parsed.
  mutating func price(
    _ present: DeviceInventory, _ cache: CompiledCache?
  ) throws -> (inventory: DeviceInventory, costs: CostSheet, remarks: [String]) {
    guard let profile else {
      let costs = try CostSheet().with(links: links, devices: present)
      guard let cache else { return (present, costs, []) }
      let (units, helpers) = try Planner(inventory: present, costs: CostSheet()).devices(for: request)
      let planned = plan.map { present.devices(named: $0.usedDevices) } ?? []
      let stored = ProfileStore(cache.directory, kelvinVersion: kelvinVersion)
        .load(devices: (units + helpers + planned).map(\.info))
      return (
        present, try CostSheet(stored.profile).with(links: links, devices: present),
        stored.remarks.map { "measurements were ignored: \($0)" }
      )
    }
    let costs = CostSheet(profile)
    guard let strange = WhatIf(profile, inventory: present) else {
      return (present, try costs.with(links: links, devices: present), [])
    }
    if allowsWhatIf {
      if !isThreadCountGiven { request.threads = profile.threads ?? request.threads }
      let inventory = try DeviceInventory(whatIf: costs, threads: request.threads)
      return (inventory, try costs.with(links: links, devices: inventory), [])
    }
    guard profile.label == .measured else {
      throw RuntimeError.invalidChoice(
        "the profile is a sample and describes no real machine: only 'kelvin plan' takes it")
    }
    let valid = profile.removing(profile.staleness(MachineDescription(SystemFiles()), present))
    return (
      present, try CostSheet(valid).with(links: links, devices: present),
      strange.reasons.map { "measurements of the profile were ignored: \($0)" }
    )
  }
}

extension MeasuredProfile {
  fileprivate func staleness(_ here: MachineDescription, _ inventory: DeviceInventory) -> [Staleness] {
    staleness(
      kelvinVersion: kelvinVersion, machine: here,
      devices: inventory.devices(named: devices.map(\.id)).map(\.info.identity))
  }
}
