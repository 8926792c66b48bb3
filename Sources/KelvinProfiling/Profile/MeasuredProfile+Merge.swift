extension MeasuredProfile {
  /// This profile with a newer one laid over it.
  ///
  /// The newer measurement wins, except that a noisy one does not displace a quiet one. What was measured with another
  /// driver, another device of the same id or another version of Kelvin is dropped, never mixed.
  /// - Parameter acrossMachines: for what-if questions only; the result is described as `newer`'s machine.
  /// - Throws: `differentMachine` when processor or core count differ.
  package func merging(
    _ newer: MeasuredProfile, acrossMachines: Bool = false
  ) throws(ProfilingError) -> MeasuredProfile {
    let same = machine.processor == newer.machine.processor && machine.logicalCores == newer.machine.logicalCores
    guard same || acrossMachines else {
      throw .differentMachine(ours: machine.summary, theirs: newer.machine.summary)
    }
    var merged = self
    if kelvinVersion != newer.kelvinVersion {
      merged = MeasuredProfile(kelvinVersion: newer.kelvinVersion, machine: newer.machine)
    }
    let changed = newer.devices.filter { device in self.device(device.id).map { $0 != device } ?? false }
    merged = merged.removing(devices: Set(changed.map(\.id)))
    merged.machine = newer.machine
    for device in newer.devices where merged.device(device.id) == nil { merged.devices.append(device) }
    merged.devices.sort { $0.id < $1.id }
    for (fingerprint, costs) in newer.nodes {
      merged.nodes[fingerprint, default: [:]].merge(costs) { old, new in new.isNoisy && !old.isNoisy ? old : new }
    }
    for transfer in newer.transfers {
      if let index = merged.transfers.firstIndex(where: { $0.from == transfer.from && $0.to == transfer.to }) {
        if !(transfer.isNoisy && !merged.transfers[index].isNoisy) { merged.transfers[index] = transfer }
      } else {
        merged.transfers.append(transfer)
      }
    }
    merged.transfers.sort { ($0.from, $0.to) < ($1.from, $1.to) }
    for (model, costs) in newer.startup {
      merged.startup[model, default: [:]].merge(costs) { _, new in new }
    }
    return merged
  }
}
