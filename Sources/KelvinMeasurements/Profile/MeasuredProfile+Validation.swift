extension MeasuredProfile {
  /// Rejects impossible costs, and references to devices or nodes that the document does not describe.
  func validate(document: String) throws(MeasurementError) {
    try ProfileValidator(profile: self, document: document).validate()
  }
}

private struct ProfileValidator {
  let profile: MeasuredProfile
  let document: String

  func validate() throws(MeasurementError) {
    let known = try devices()
    func described(_ id: String, _ place: String) throws(MeasurementError) {
      guard known.contains(id) else { throw refuse(place, "a device listed under devices", "\"\(id)\"") }
    }
    for (key, costs) in profile.nodes.sorted(by: { $0.key < $1.key }) {
      for (id, cost) in costs {
        try described(id, "nodes.\(key).\(id)")
        try check(cost, "nodes.\(key).\(id)")
      }
    }
    for (key, work) in profile.work.sorted(by: { $0.key < $1.key }) {
      try atLeastZero(work.operations, "work.\(key).operations", "operations")
      try atLeastZero(work.bytes, "work.\(key).bytes", "bytes")
    }
    var pairs: Set<[String]> = []
    var unordered: Set<Set<String>> = []
    for transfer in profile.transfers {
      let place = "transfers.\(transfer.from)→\(transfer.to)"
      try described(transfer.from, place)
      try described(transfer.to, place)
      guard transfer.from != transfer.to, pairs.insert([transfer.from, transfer.to]).inserted else {
        throw refuse(place, "each ordered pair of two devices once", "\(transfer.from) to \(transfer.to)")
      }
      try seconds(transfer.latency, "\(place).latency")
      guard transfer.bytesPerSecond.isFinite, transfer.bytesPerSecond > 0 else {
        throw refuse("\(place).bytesPerSecond", "more than zero", "\(transfer.bytesPerSecond)")
      }
      if let watts = transfer.watts { try atLeastZero(watts, "\(place).watts", "watts") }
    }
    for pair in profile.corun {
      let place = "corun.\(pair.a)+\(pair.b)"
      try described(pair.a, place)
      try described(pair.b, place)
      guard pair.a != pair.b, unordered.insert([pair.a, pair.b]).inserted else {
        throw refuse(place, "each pair of two devices once", "\(pair.a) and \(pair.b)")
      }
      guard pair.factor.isFinite, pair.factor > 0 else { throw refuse(place, "more than zero", "\(pair.factor)") }
    }
    for (model, costs) in profile.startup.sorted(by: { $0.key < $1.key }) {
      for (id, cost) in costs {
        let place = "startup.\(model).\(id)"
        try described(id, place)
        for (value, name) in [
          (cost.load, "load"), (cost.compile, "compile"), (cost.firstRun, "firstRun"),
          (cost.compileCached ?? 0, "compileCached"), (cost.busyCompile ?? 0, "busyCompile"),
          (cost.busyFirstRun ?? 0, "busyFirstRun"),
        ] { try seconds(value, "\(place).\(name)") }
      }
    }
    for (key, model) in profile.models.sorted(by: { $0.key < $1.key }) { try check(model, "models.\(key)") }
    for (key, accuracy) in profile.accuracy.sorted(by: { $0.key < $1.key }) {
      for (part, name) in [(accuracy.single, "single"), (accuracy.mixed, "mixed")] {
        guard let part else { continue }
        try atLeastZero(part.median, "accuracy.\(key).\(name).median", "a share of the measured seconds")
        try atLeastZero(part.largest, "accuracy.\(key).\(name).largest", "a share of the measured seconds")
      }
    }
    for (threads, pace) in profile.pace.sorted(by: { $0.key < $1.key }) {
      guard pace.isFinite, pace > 0 else {
        throw refuse("pace.\(threads)", "more than zero steps per second", "\(pace)")
      }
    }
    for (index, trial) in profile.trials.enumerated() {
      let place = "trials.\(index)"
      guard trial.entries.indices.contains(trial.chosen) else {
        throw refuse("\(place).chosen", "one of \(trial.entries.count) entries, from 0", "\(trial.chosen)")
      }
      for entry in trial.entries { try seconds(entry.seconds, "\(place).\(entry.label).seconds") }
    }
  }

  private func devices() throws(MeasurementError) -> Set<String> {
    var known: Set<String> = []
    for device in profile.devices {
      guard !device.id.isEmpty, known.insert(device.id).inserted else {
        throw refuse("devices", "each device once, with an id", "\"\(device.id)\" again")
      }
      if let memory = device.memory, memory < 0 {
        throw refuse("devices.\(device.id).memory", "bytes, zero or more", "\(memory)")
      }
      guard let power = device.power else { continue }
      try atLeastZero(power.idleWatts, "devices.\(device.id).power.idleWatts", "watts")
      guard power.busyWatts.isFinite, power.busyWatts >= power.idleWatts else {
        throw refuse("devices.\(device.id).power.busyWatts", "at least idleWatts", "\(power.busyWatts)")
      }
    }
    return known
  }

  private func check(_ cost: NodeCost, _ place: String) throws(MeasurementError) {
    try seconds(cost.seconds, "\(place).seconds")
    try seconds(cost.interval.lower, "\(place).interval.lower")
    try seconds(cost.interval.upper, "\(place).interval.upper")
    guard cost.interval.lower <= cost.seconds, cost.seconds <= cost.interval.upper else {
      throw refuse(
        "\(place).interval", "an interval around \(cost.seconds)", "\(cost.interval.lower)...\(cost.interval.upper)")
    }
    guard cost.samples >= 1 else { throw refuse("\(place).samples", "one or more", "\(cost.samples)") }
    if let joules = cost.joules { try atLeastZero(joules, "\(place).joules", "joules") }
    try seconds(cost.cold ?? 0, "\(place).cold")
    try seconds(cost.compile ?? 0, "\(place).compile")
  }

  /// Checks a graph's values. The planner checks its structure: unique names, no cycles.
  private func check(_ model: ProfiledModel, _ place: String) throws(MeasurementError) {
    guard model.threads >= 1 else { throw refuse("\(place).threads", "one or more", "\(model.threads)") }
    func check(_ values: [ProfiledModel.Value], _ place: String) throws(MeasurementError) {
      for value in values {
        guard value.bytes >= 0 else {
          throw refuse("\(place).\(value.value).bytes", "bytes, zero or more", "\(value.bytes)")
        }
        guard value.copies >= 0 else {
          throw refuse("\(place).\(value.value).copies", "zero or more, or \"never\"", "\(value.copies)")
        }
      }
    }
    try check(model.inputs, "\(place).inputs")
    try check(model.hostWrites ?? [], "\(place).hostWrites")
    for (loop, trips) in (model.trips ?? [:]).sorted(by: { $0.key < $1.key }) {
      try atLeastZero(trips, "\(place).trips.\(loop)", "trips")
    }
    for (branch, share) in (model.thenShares ?? [:]).sorted(by: { $0.key < $1.key }) {
      guard (0...1).contains(share) else {
        throw refuse("\(place).thenShares.\(branch)", "a share from 0 to 1", "\(share)")
      }
    }
    for node in model.nodes {
      try check(node.outputs, "\(place).nodes.\(node.name).outputs")
      for weight in node.weights ?? [] where weight.bytes < 0 {
        throw refuse(
          "\(place).nodes.\(node.name).weights.\(weight.weight).bytes", "bytes, zero or more", "\(weight.bytes)")
      }
      try atLeastZero(node.runs ?? 1, "\(place).nodes.\(node.name).runs", "runs")
      guard node.role == nil else { continue }
      guard profile.nodes[node.key] != nil || profile.work[node.key] != nil || node.unsupported != nil else {
        throw refuse("\(place).nodes.\(node.name).key", "a key of nodes or work", "\"\(node.key)\"")
      }
    }
  }

  private func refuse(_ place: String, _ expected: String, _ got: String) -> MeasurementError {
    .invalidValue(document: document, at: place, expected: expected, got: got)
  }

  private func seconds(_ value: Double, _ place: String) throws(MeasurementError) {
    try atLeastZero(value, place, "seconds")
  }

  private func atLeastZero(_ value: Double, _ place: String, _ unit: String) throws(MeasurementError) {
    guard value.isFinite, value >= 0 else { throw refuse(place, "\(unit), zero or more", "\(value)") }
  }
}
