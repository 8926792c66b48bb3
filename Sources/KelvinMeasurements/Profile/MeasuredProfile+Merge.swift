extension MeasuredProfile {
  /// Merges a newer profile into this one.
  ///
  /// The newer measurement takes precedence, except that a noisy one does not replace a certain one. Measurements with
  /// another driver, another device of the same id or another version of Kelvin are dropped. A trial that others disturbed does not
  /// replace a quiet one.
  ///
  /// - Parameter acrossMachines: for hypothetical questions only; the result describes `newer`'s machine.
  /// - Throws: `differentMachine` when the processors or core counts differ.
  package func merging(
    _ newer: MeasuredProfile, acrossMachines: Bool = false
  ) throws(MeasurementError) -> MeasuredProfile {
    let same = machine.processor == newer.machine.processor && machine.logicalCores == newer.machine.logicalCores
    guard same || acrossMachines else {
      throw .differentMachine(ours: machine.summary, theirs: newer.machine.summary)
    }
    var merged = self
    if kelvinVersion != newer.kelvinVersion, !acrossMachines {
      merged = MeasuredProfile(kelvinVersion: newer.kelvinVersion, machine: newer.machine)
    }
    let changed = newer.devices.filter { device in self.device(device.id).map { !$0.isSame(as: device) } ?? false }
    merged = merged.removing(devices: Set(changed.map(\.id)))
    merged.kelvinVersion = newer.kelvinVersion
    merged.machine = newer.machine
    merged.isPartial = isPartial || newer.isPartial
    if newer.label == .sample { merged.label = .sample }
    merged.note = [note, newer.note].compactMap(\.self).uniqued.joined(separator: "; ")
    if merged.note?.isEmpty == true { merged.note = nil }
    merged.merge(newer.devices)
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
    for pair in newer.corun {
      merged.corun.removeAll { Set([$0.a, $0.b]) == [pair.a, pair.b] }
      merged.corun.append(pair)
    }
    merged.corun.sort { ($0.a, $0.b) < ($1.a, $1.b) }
    for (model, costs) in newer.startup {
      merged.startup[model, default: [:]].merge(costs) { _, new in new }
    }
    merged.work.merge(newer.work) { _, new in new }
    merged.models.merge(newer.models) { _, new in new }
    merged.accuracy.merge(newer.accuracy) { _, new in new }
    merged.pace.merge(newer.pace) { _, new in new }
    for trial in newer.trials {
      if merged.trials.contains(where: { trial.isAbout($0) && !trial.replaces($0) }) { continue }
      merged.trials.removeAll { $0.isAbout(trial) }
      merged.trials.append(trial)
    }
    return merged
  }

  private mutating func merge(_ newer: [DeviceIdentity]) {
    for device in newer {
      guard let index = devices.firstIndex(where: { $0.id == device.id }) else {
        devices.append(device)
        continue
      }
      var both = device
      both.kind = device.kind ?? devices[index].kind
      both.resource = device.resource ?? devices[index].resource
      both.memory = device.memory ?? devices[index].memory
      both.power = device.power ?? devices[index].power
      devices[index] = both
    }
    devices.sort { $0.id < $1.id }
  }
}

extension [String] {
  fileprivate var uniqued: [String] { reduce(into: []) { if !$0.contains($1) { $0.append($1) } } }
}
