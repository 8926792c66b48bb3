extension MeasuredProfile {
  /// Refuses costs no machine can have and references to devices the document does not describe.
  func validate(document: String) throws(ProfilingError) {
    func refuse(_ place: String, _ expected: String, _ got: String) -> ProfilingError {
      .invalidValue(document: document, at: place, expected: expected, got: got)
    }
    func seconds(_ value: Double, _ place: String) throws(ProfilingError) {
      guard value.isFinite, value >= 0 else { throw refuse(place, "seconds, zero or more", "\(value)") }
    }
    var known: Set<String> = []
    for device in devices {
      guard !device.id.isEmpty, known.insert(device.id).inserted else {
        throw refuse("devices", "each device once, with an id", "\"\(device.id)\" again")
      }
    }
    func described(_ id: String, _ place: String) throws(ProfilingError) {
      guard known.contains(id) else { throw refuse(place, "a device listed under devices", "\"\(id)\"") }
    }
    for (fingerprint, costs) in nodes {
      for (id, cost) in costs {
        let place = "nodes.\(fingerprint).\(id)"
        try described(id, place)
        try seconds(cost.seconds, "\(place).seconds")
        try seconds(cost.interval.lower, "\(place).interval.lower")
        try seconds(cost.interval.upper, "\(place).interval.upper")
        guard cost.interval.lower <= cost.seconds, cost.seconds <= cost.interval.upper else {
          throw refuse(
            "\(place).interval", "an interval around \(cost.seconds)",
            "\(cost.interval.lower)...\(cost.interval.upper)")
        }
        guard cost.samples >= 1 else { throw refuse("\(place).samples", "one or more", "\(cost.samples)") }
        if let joules = cost.joules, !(joules.isFinite && joules >= 0) {
          throw refuse("\(place).joules", "joules, zero or more", "\(joules)")
        }
      }
    }
    var pairs: Set<[String]> = []
    for transfer in transfers {
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
    }
    for (model, costs) in startup {
      for (id, cost) in costs {
        let place = "startup.\(model).\(id)"
        try described(id, place)
        try seconds(cost.load, "\(place).load")
        try seconds(cost.compile, "\(place).compile")
        try seconds(cost.firstRun, "\(place).firstRun")
      }
    }
  }
}
