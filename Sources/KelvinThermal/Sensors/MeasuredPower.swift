/// The power during one interval according to power sensors and energy counters.
struct MeasuredPower {
  private struct Entry {
    var sensor: String
    var domain: SensorDomain
    var watts: Double
    var limit: Double?
  }

  private var entries: [Entry] = []

  /// Computes mean power from counters that both snapshots contain; for a card without such a counter, uses its present
  /// power.
  init(_ sensors: SensorSnapshot, since before: SensorSnapshot, seconds: Double) {
    for reading in sensors.energies {
      guard let earlier = before.energies.first(where: { $0.sensor == reading.sensor }),
        let mean = reading.watts(since: earlier, seconds: seconds)
      else { continue }
      entries.append(Entry(sensor: reading.sensor, domain: reading.domain, watts: mean, limit: reading.limitWatts))
    }
    let counted = Set(entries.map(\.domain))
    for reading in sensors.powers where !counted.contains(reading.domain) && reading.domain != .other {
      entries.append(
        Entry(sensor: reading.sensor, domain: reading.domain, watts: reading.watts, limit: reading.limitWatts))
    }
  }

  /// The total power in watts; nil when nothing was measured.
  var watts: Double? { entries.isEmpty ? nil : entries.reduce(0) { $0 + $1.watts } }

  /// The processor's sensor if there is one, else the first sensor.
  var sensor: String? { (entries.first { $0.domain == .processor } ?? entries.first)?.sensor }

  /// Returns the power of one domain in watts, with its sensors; nil when it was not measured.
  func power(of domain: SensorDomain) -> (watts: Double, sensor: String)? {
    let parts = entries.filter { $0.domain == domain }
    guard !parts.isEmpty else { return nil }
    return (parts.reduce(0) { $0 + $1.watts }, parts.map(\.sensor).joined(separator: " + "))
  }

  /// Returns the normalized power of the domain nearest to its limit; the envelope supplies missing limits of the
  /// processor. A processor without a sensor counts with its estimate. Nil when nothing is known.
  func load(envelope: ThermalEnvelope, estimatedWatts: Double?) -> Double? {
    var loads: [Double] = []
    for domain in [SensorDomain.processor, .graphics] {
      let parts = entries.filter { $0.domain == domain }
      guard !parts.isEmpty else { continue }
      let watts = parts.reduce(0) { $0 + $1.watts }
      let limits = parts.compactMap(\.limit)
      if limits.count == parts.count {
        loads.append(watts / limits.reduce(0, +))
      } else if domain == .processor {
        loads.append(envelope.load(watts: watts))
      }
    }
    if !entries.contains(where: { $0.domain == .processor }), let estimatedWatts {
      loads.append(envelope.load(watts: estimatedWatts))
    }
    return loads.max()
  }
}
