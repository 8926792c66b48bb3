/// The reason for which a profile, or one device's part of it, is outdated.
package enum Staleness: Sendable, Hashable {
  case kelvinChanged(measured: String, now: String)
  case processorChanged(measured: String, now: String)
  case deviceAbsent(id: String)
  case deviceReplaced(id: String, measured: String, now: String)
  case driverChanged(id: String, measured: String, now: String)

  /// The device whose measurements are invalid; nil for all of them.
  package var device: String? {
    switch self {
    case .kelvinChanged, .processorChanged: nil
    case .deviceAbsent(let id), .deviceReplaced(let id, _, _), .driverChanged(let id, _, _): id
    }
  }
}

extension Staleness: CustomStringConvertible {
  package var description: String {
    switch self {
    case .kelvinChanged(let measured, let now): "measured with Kelvin \(measured), this is \(now)"
    case .processorChanged(let measured, let now): "measured on \(measured), this is \(now)"
    case .deviceAbsent(let id): "\(id) is not here"
    case .deviceReplaced(let id, let measured, let now): "\(id) was \(measured), now it is \(now)"
    case .driverChanged(let id, let measured, let now): "\(id) was measured with driver \(measured), now it has \(now)"
    }
  }
}

extension MeasuredProfile {
  /// Returns all changes since the measurement; empty for a profile that is valid as it is.
  package func staleness(
    kelvinVersion: String, machine: MachineDescription, devices present: [DeviceIdentity]
  ) -> [Staleness] {
    var found: [Staleness] = []
    if self.kelvinVersion != kelvinVersion {
      found.append(.kelvinChanged(measured: self.kelvinVersion, now: kelvinVersion))
    }
    if self.machine.processor != machine.processor || self.machine.logicalCores != machine.logicalCores {
      found.append(
        .processorChanged(
          measured: "\(self.machine.processor) × \(self.machine.logicalCores)",
          now: "\(machine.processor) × \(machine.logicalCores)"))
    }
    for device in devices {
      guard let now = present.first(where: { $0.id == device.id }) else {
        found.append(.deviceAbsent(id: device.id))
        continue
      }
      if now.name != device.name {
        found.append(.deviceReplaced(id: device.id, measured: device.name, now: now.name))
      } else if now.driver != device.driver || now.version != device.version {
        found.append(
          .driverChanged(
            id: device.id, measured: "\(device.driver) \(device.version)", now: "\(now.driver) \(now.version)"))
      }
    }
    return found
  }

  /// Returns the profile without the measurements that `staleness` invalidates: those of one device, or all when the
  /// machine or Kelvin changed.
  package func removing(_ staleness: [Staleness]) -> MeasuredProfile {
    if staleness.contains(where: { $0.device == nil }) {
      return MeasuredProfile(kelvinVersion: kelvinVersion, machine: machine, label: label, note: note)
    }
    return removing(devices: Set(staleness.compactMap(\.device)))
  }

  package func removing(devices gone: Set<String>) -> MeasuredProfile {
    var kept = self
    kept.devices.removeAll { gone.contains($0.id) }
    kept.transfers.removeAll { gone.contains($0.from) || gone.contains($0.to) }
    kept.corun.removeAll { gone.contains($0.a) || gone.contains($0.b) }
    kept.nodes = nodes.mapValues { $0.filter { !gone.contains($0.key) } }.filter { !$0.value.isEmpty }
    kept.work = work.filter { kept.nodes[$0.key] != nil }
    kept.trials.removeAll { !$0.devices.isDisjoint(with: gone) }
    kept.startup = startup.mapValues { $0.filter { !gone.contains($0.key) } }.filter { !$0.value.isEmpty }
    return kept
  }
}
