/// Whose clock timed a node.
package enum TimingSource: String, Sendable, Hashable, Codable {
  case hostClock = "host clock"
  case deviceTimestamps = "device timestamps"
  /// Nobody's: written by hand or computed, as samples and edited profiles are.
  case stated
}

/// What one node costs on one device.
package struct NodeCost: Sendable, Hashable {
  /// Median seconds, warm, in context.
  package var seconds: Double
  /// Of the median.
  package var interval: ConfidenceInterval
  package var samples: Int
  package var source: TimingSource
  /// The interval stayed wider than asked for.
  package var isNoisy: Bool
  /// Dynamic energy, above idle, where it was measured or estimated.
  package var joules: Double?
  /// Seconds of the first run after compilation.
  package var cold: Double?
  /// Seconds of compilation that are this node's.
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

  /// - Parameter bound: relative uncertainty of the median above which the cost is flagged noisy.
  package init(_ statistics: LatencyStatistics, source: TimingSource, bound: Double = 0.05, joules: Double? = nil) {
    self.init(
      seconds: statistics.median, interval: statistics.medianInterval, samples: statistics.count, source: source,
      isNoisy: !(statistics.relativeUncertainty <= bound), joules: joules)
  }

  /// The same node where handing it to the device costs so many seconds more.
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

  /// What compilation and a first run take beyond a warm one; nil where neither was measured.
  package var startSeconds: Double? {
    cold == nil && compile == nil ? nil : (compile ?? 0) + max(0, (cold ?? seconds) - seconds)
  }
}

extension NodeCost: Codable {
  private enum CodingKeys: String, CodingKey {
    case seconds, interval, samples, source, isNoisy, joules, cold, compile
  }

  /// Only `seconds` is needed: a cost written by hand is certain and counts as one sample.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let seconds = try fields.decode(Double.self, forKey: .seconds)
    self.init(
      seconds: seconds,
      interval: try fields.decodeIfPresent(ConfidenceInterval.self, forKey: .interval)
        ?? ConfidenceInterval(lower: seconds, upper: seconds, confidence: 0),
      samples: try fields.decodeIfPresent(Int.self, forKey: .samples) ?? 1,
      source: try fields.decodeIfPresent(TimingSource.self, forKey: .source) ?? .stated,
      isNoisy: try fields.decodeIfPresent(Bool.self, forKey: .isNoisy) ?? false,
      joules: try fields.decodeIfPresent(Double.self, forKey: .joules),
      cold: try fields.decodeIfPresent(Double.self, forKey: .cold),
      compile: try fields.decodeIfPresent(Double.self, forKey: .compile))
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(seconds, forKey: .seconds)
    if source != .stated {
      try fields.encode(interval, forKey: .interval)
      try fields.encode(samples, forKey: .samples)
      try fields.encode(source, forKey: .source)
      try fields.encode(isNoisy, forKey: .isNoisy)
    }
    try fields.encodeIfPresent(joules, forKey: .joules)
    try fields.encodeIfPresent(cold, forKey: .cold)
    try fields.encodeIfPresent(compile, forKey: .compile)
  }
}

/// Handing a value of n bytes from one device to another takes `latency + n / bytesPerSecond`: the copy, and what plans
/// that alternate between the two were measured to take beyond it.
package struct TransferCost: Sendable, Hashable {
  package var from: String
  package var to: String
  /// Seconds.
  package var latency: Double
  package var bytesPerSecond: Double
  package var samples: Int
  package var isNoisy: Bool
  /// Power above idle while copying.
  package var watts: Double?
  /// Of the copy by itself; nil where nobody told the two apart.
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
  private enum CodingKeys: String, CodingKey {
    case from, to, latency, bytesPerSecond, samples, isNoisy, watts, copyLatency, copyBytesPerSecond
  }

  /// `samples` and `isNoisy` may be absent: a link written by hand is certain and counts as one sample.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      from: try fields.decode(String.self, forKey: .from), to: try fields.decode(String.self, forKey: .to),
      latency: try fields.decode(Double.self, forKey: .latency),
      bytesPerSecond: try fields.decode(Double.self, forKey: .bytesPerSecond),
      samples: try fields.decodeIfPresent(Int.self, forKey: .samples) ?? 1,
      isNoisy: try fields.decodeIfPresent(Bool.self, forKey: .isNoisy) ?? false,
      watts: try fields.decodeIfPresent(Double.self, forKey: .watts),
      copyLatency: try fields.decodeIfPresent(Double.self, forKey: .copyLatency),
      copyBytesPerSecond: try fields.decodeIfPresent(Double.self, forKey: .copyBytesPerSecond))
  }
}

/// How much two devices gain by working at the same time: `(T_A + T_B) / T_AB`, 1 for none, 2 where both go on as if
/// alone.
package struct CorunFactor: Sendable, Hashable, Codable {
  package var a: String
  package var b: String
  package var factor: Double
  package var samples: Int
  package var isNoisy: Bool

  /// Below this, two devices are planned as one resource.
  package static let overlap = 1.25
  /// From here on, two devices on one silicon are planned as two resources: each has cores of its own. Below it they
  /// overlap where one leaves the other's cores idle, which is no second machine.
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

/// What a model costs on one device before the first warm inference, in seconds.
package struct StartupCost: Sendable, Hashable, Codable {
  package var load: Double
  package var compile: Double
  package var firstRun: Double
  /// Compilation with packed weights and pipelines found in the cache.
  package var compileCached: Double?
  /// The same while every processor is busy with something else.
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
