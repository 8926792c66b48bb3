import KelvinBasics

/// The clock that timed a node.
package enum TimingSource: String, Sendable, Hashable, Codable {
  case hostClock = "host clock"
  case deviceTimestamps = "device timestamps"
  /// Not measured: written by hand or computed, as in samples and edited profiles.
  case stated
}

/// The cost of one node on one device.
package struct NodeCost: Sendable, Hashable {
  /// The median seconds of a warm run, in context.
  package var seconds: Double
  /// The confidence interval of the median.
  package var interval: ConfidenceInterval
  package var samples: Int
  package var source: TimingSource
  /// Whether the interval remained wider than asked for.
  package var isNoisy: Bool
  /// The dynamic energy above idle, measured or estimated; nil when unknown.
  package var joules: Double?
  /// Seconds of the first run after compilation.
  package var cold: Double?
  /// The part of the compilation that belongs to this node, in seconds.
  package var compile: Double?

  package init(
    seconds: Double, interval: ConfidenceInterval, samples: Int, source: TimingSource, isNoisy: Bool = false,
    joules: Double? = nil, cold: Double? = nil, compile: Double? = nil
  ) {
    self.seconds = seconds
    self.interval = interval
    self.samples = samples
    self.source = source
    self.isNoisy = isNoisy
    self.joules = joules
    self.cold = cold
    self.compile = compile
  }

  /// - Parameter bound: the relative uncertainty of the median above which the cost counts as noisy.
  package init(_ statistics: LatencyStatistics, source: TimingSource, bound: Double = 0.05, joules: Double? = nil) {
    self.init(
      seconds: statistics.median, interval: statistics.medianInterval, samples: statistics.count, source: source,
      isNoisy: !(statistics.relativeUncertainty <= bound), joules: joules)
  }

  /// Returns the cost with the seconds of dispatch to the device added.
  package func adding(_ dispatch: Double) -> NodeCost {
    guard dispatch > 0 else { return self }
    var cost = self
    cost.seconds += dispatch
    cost.interval.lower += dispatch
    cost.interval.upper += dispatch
    cost.cold = cold.map { $0 + dispatch }
    if seconds > 0 { cost.joules = joules.map { $0 * cost.seconds / seconds } }
    return cost
  }

  /// The additional seconds of compilation and a first run over a warm run; nil when neither was measured.
  package var startSeconds: Double? {
    cold == nil && compile == nil ? nil : (compile ?? 0) + max(0, (cold ?? seconds) - seconds)
  }
}

extension NodeCost: Codable {
  /// Only `seconds` is required: a cost written by hand is certain and counts as one sample.
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    let seconds: Double = try fields["seconds"]
    self.init(
      seconds: seconds,
      interval: try fields["interval", or: ConfidenceInterval(lower: seconds, upper: seconds, confidence: 0)],
      samples: try fields["samples", or: 1], source: try fields["source", or: .stated],
      isNoisy: try fields["isNoisy", or: false], joules: try fields["joules", or: nil],
      cold: try fields["cold", or: nil], compile: try fields["compile", or: nil])
  }

  package func encode(to encoder: any Encoder) throws {
    let isStated = source == .stated
    let document: JSONObject = [
      "seconds": seconds, "interval": isStated ? nil : interval, "samples": isStated ? nil : samples,
      "source": isStated ? nil : source, "isNoisy": isStated ? nil : isNoisy, "joules": joules, "cold": cold,
      "compile": compile,
    ]
    try document.encode(to: encoder)
  }
}

/// The cost of handing a value of n bytes from one device to another, `latency + n / bytesPerSecond`. It consists of
/// the copy and of the additional time measured with plans that alternate between the two.
package struct TransferCost: Sendable, Hashable {
  package var from: String
  package var to: String
  /// Seconds.
  package var latency: Double
  package var bytesPerSecond: Double
  package var samples: Int
  package var isNoisy: Bool
  /// The power above idle while copying.
  package var watts: Double?
  /// The cost of the copy alone; nil when it was not separated.
  package var copyLatency: Double?
  package var copyBytesPerSecond: Double?

  package init(
    from: String, to: String, latency: Double, bytesPerSecond: Double, samples: Int, isNoisy: Bool = false,
    watts: Double? = nil, copyLatency: Double? = nil, copyBytesPerSecond: Double? = nil
  ) {
    self.copyLatency = copyLatency
    self.copyBytesPerSecond = copyBytesPerSecond
    self.from = from
    self.to = to
    self.latency = latency
    self.bytesPerSecond = bytesPerSecond
    self.samples = samples
    self.isNoisy = isNoisy
    self.watts = watts
  }

  package func seconds(bytes: Int) -> Double { latency + Double(bytes) / bytesPerSecond }
}

extension TransferCost: Codable {
  /// `samples` and `isNoisy` are optional: a link written by hand is certain and counts as one sample.
  package init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    self.init(
      from: try fields["from"], to: try fields["to"], latency: try fields["latency"],
      bytesPerSecond: try fields["bytesPerSecond"], samples: try fields["samples", or: 1],
      isNoisy: try fields["isNoisy", or: false], watts: try fields["watts", or: nil],
      copyLatency: try fields["copyLatency", or: nil], copyBytesPerSecond: try fields["copyBytesPerSecond", or: nil])
  }
}

/// The gain of two devices that work simultaneously: `(T_A + T_B) / T_AB`, 1 for none, 2 when neither slows the other
/// down.
package struct CorunFactor: Sendable, Hashable, Codable {
  package var a: String
  package var b: String
  package var factor: Double
  package var samples: Int
  package var isNoisy: Bool

  /// The factor below which two devices are planned as one resource.
  package static let overlap = 1.25
  /// The factor from which two devices on the same hardware are planned as two resources, because each has its own
  /// cores. Below it, they gain only when one leaves the other's cores idle.
  package static let independence = 1.6

  package init(a: String, b: String, factor: Double, samples: Int, isNoisy: Bool = false) {
    self.a = a
    self.b = b
    self.factor = factor
    self.samples = samples
    self.isNoisy = isNoisy
  }

  package var overlaps: Bool { factor >= Self.overlap }
  package var areIndependent: Bool { factor >= Self.independence && !isNoisy }
}

/// The costs of a model on one device before the first warm inference, in seconds.
package struct StartupCost: Sendable, Hashable, Codable {
  package var load: Double
  package var compile: Double
  package var firstRun: Double
  /// Compilation with packed weights and pipelines in the cache.
  package var compileCached: Double?
  /// The same while every processor is busy with other work.
  package var busyCompile: Double?
  package var busyFirstRun: Double?

  package init(
    load: Double, compile: Double, firstRun: Double, compileCached: Double? = nil, busyCompile: Double? = nil,
    busyFirstRun: Double? = nil
  ) {
    self.load = load
    self.compile = compile
    self.firstRun = firstRun
    self.compileCached = compileCached
    self.busyCompile = busyCompile
    self.busyFirstRun = busyFirstRun
  }
}
