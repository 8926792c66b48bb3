package import KelvinProfiler

/// The load of a model during a benchmark, and the other load of the machine.
package struct Workload: Hashable, Sendable {
  package static let format = "kelvin-workload"
  package static let version = 1

  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// Starts and answers, then inferences one after the other.
    case oneShot = "one-shot"
    /// Frames arrive at a fixed rate, whether or not the previous one is answered.
    case stream
    /// As many inferences as possible, several in flight, for a fixed time.
    case throughput
    /// A prompt is read and tokens are generated, one sequence after another.
    case tokens
  }

  package var name: String
  /// A description in one sentence.
  package var summary: String
  package var kind: Kind
  /// Starts of each configuration with empty caches.
  package var coldStarts: Int
  /// Starts of each configuration with the caches of an earlier start.
  package var starts: Int
  /// The fewest warm inferences of each configuration.
  package var iterations: Int
  /// The number of rounds of warm inferences, which are compared. There are at most as many as inferences, and twice as
  /// many when they decide nothing.
  package var rounds: Int
  /// The fewest seconds of warm inferences of each configuration.
  package var warmSeconds: Double
  /// Uncounted inferences before the warm ones.
  package var warmUps: Int
  /// Arrivals per second; for streams only.
  package var framesPerSecond: Double
  /// Seconds of the sustained load of each configuration.
  package var duration: Double
  /// The number of frames that may wait; one more arrival drops the oldest waiting frame.
  package var queue: Int
  /// The number of inferences in flight, for throughput only; 0 to find it by trying.
  package var inFlight: Int
  /// The number of tokens of the prompt; for tokens only.
  package var prompt: Int
  /// The number of tokens to generate, the first included; for tokens only.
  package var tokens: Int
  /// Whether a governor may lower the rate, drop frames or change to a plan with less energy when the machine gets hot;
  /// for streams only.
  package var isGoverned: Bool
  /// The share of a device that stays free for others, 0 ..< 1, by device identifier.
  package var reserve: [String: Double]
  /// The share of a device that others use all the time, 0 ..< 1, by device identifier.
  package var coload: [String: Double]
  /// The bytes that others read or write per second beyond the caches.
  package var memoryTraffic = 0.0
  /// The bytes that others keep in the caches.
  package var cachePressure = 0

  package init(
    name: String, summary: String = "", kind: Kind, coldStarts: Int = 2, starts: Int = 8, iterations: Int = 64,
    rounds: Int = 20, warmSeconds: Double = 3, warmUps: Int = 3, framesPerSecond: Double = 30, duration: Double = 20,
    queue: Int = 1, inFlight: Int = 0, prompt: Int = 32, tokens: Int = 128, isGoverned: Bool = false,
    reserve: [String: Double] = [:],
    coload: [String: Double] = [:]
  ) {
    self.name = name
    self.summary = summary
    self.kind = kind
    self.coldStarts = coldStarts
    self.starts = starts
    self.iterations = iterations
    self.rounds = rounds
    self.warmSeconds = warmSeconds
    self.warmUps = warmUps
    self.framesPerSecond = framesPerSecond
    self.duration = duration
    self.queue = queue
    self.inFlight = inFlight
    self.prompt = prompt
    self.tokens = tokens
    self.isGoverned = isGoverned
    self.reserve = reserve
    self.coload = coload
  }

  /// A description such as `stream: 30 frames/s for 20 s, 1 frame may wait`.
  package var description: String {
    let load =
      switch kind {
      case .oneShot:
        "one-shot: \(coldStarts) cold and \(starts) cached starts, then at least \(iterations) warm inferences"
          + (warmSeconds > 0 ? " and \(Self.number(warmSeconds)) s" : "")
      case .stream:
        "stream: \(Self.number(framesPerSecond)) frames/s for \(Self.number(duration)) s, "
          + (queue == 1 ? "1 frame may wait" : "\(queue) frames may wait") + (isGoverned ? ", governed" : "")
      case .throughput:
        "throughput: as fast as possible for \(Self.number(duration)) s"
          + (inFlight > 0 ? ", \(inFlight) in flight" : "")
      case .tokens:
        "tokens: \(tokens) behind a prompt of \(prompt), one sequence after another for \(Self.number(duration)) s"
      }
    return load + (scenario.isEmpty ? "" : "; \(scenario)")
  }

  /// The other load of the machine, in words; empty for none.
  package var scenario: String {
    func list(_ shares: [String: Double], _ what: String) -> [String] {
      shares.sorted { $0.key < $1.key }.filter { $0.value > 0 }
        .map { "\(Self.number($0.value * 100)) % of \($0.key) \(what)" }
    }
    var parts = list(reserve, "kept free") + list(coload, "used by others")
    if memoryTraffic > 0 { parts.append("\(Self.number(memoryTraffic / 1e9)) GB/s of memory traffic by others") }
    if cachePressure > 0 { parts.append("\(Self.number(Double(cachePressure) / 1e6)) MB of the caches used by others") }
    return parts.joined(separator: ", ")
  }

  /// All other load of the machine.
  package var otherLoad: CoLoad {
    get { CoLoad(shares: coload, memoryBytesPerSecond: memoryTraffic, cacheBytes: cachePressure) }
    set {
      (coload, memoryTraffic, cachePressure) = (newValue.shares, newValue.memoryBytesPerSecond, newValue.cacheBytes)
    }
  }

  static func number(_ value: Double) -> String {
    let rounded = (value * 100).rounded() / 100
    return rounded == rounded.rounded() && abs(rounded) < 1e9 ? "\(Int(rounded))" : "\(rounded)"
  }

  /// The largest share of a device that may be reserved and used by others together.
  static let largestShare = 0.95

  /// - Throws: `invalidWorkload` for values that are out of range.
  package func validate(document: String) throws(BenchmarkError) {
    func require(_ holds: Bool, _ reason: String) throws(BenchmarkError) {
      guard holds else { throw .invalidWorkload(document: document, reason: reason) }
    }
    try require((0...1000).contains(coldStarts), "coldStarts: expected 0 to 1000, got \(coldStarts)")
    try require((0...1000).contains(starts), "starts: expected 0 to 1000, got \(starts)")
    try require((1...10_000_000).contains(iterations), "iterations: expected 1 to 10000000, got \(iterations)")
    try require((1...100_000).contains(rounds), "rounds: expected 1 to 100000, got \(rounds)")
    try require(
      warmSeconds >= 0 && warmSeconds <= 86_400, "warmSeconds: expected 0 seconds to a day, got \(warmSeconds)")
    try require((0...1_000_000).contains(warmUps), "warmUps: expected 0 to 1000000, got \(warmUps)")
    try require((1...10_000).contains(queue), "queue: expected 1 to 10000 frames, got \(queue)")
    try require((1...1_000_000).contains(prompt), "prompt: expected 1 to 1000000 tokens, got \(prompt)")
    try require((2...1_000_000).contains(tokens), "tokens: expected 2 to 1000000, got \(tokens)")
    try require((0...64).contains(inFlight), "inFlight: expected 1 to 64, or 0 to find the number, got \(inFlight)")
    try require(
      framesPerSecond > 0 && framesPerSecond <= 10_000, "fps: expected above 0, at most 10000, got \(framesPerSecond)")
    try require(
      duration > 0 && duration <= 604_800, "duration: expected above 0 seconds, at most a week, got \(duration)")
    for (key, shares) in [("reserve", reserve), ("coload", coload)] {
      for (device, share) in shares.sorted(by: { $0.key < $1.key }) {
        try require(!device.isEmpty, "\(key): a device has no name; use those of 'kelvin devices'")
        try require(
          share >= 0 && share <= Self.largestShare,
          "\(key): expected a share of \(device) from 0 to \(Self.largestShare), got \(share)")
      }
    }
    try require(
      memoryTraffic >= 0 && memoryTraffic <= CoLoad.mostBytesPerSecond,
      "coload: expected memory traffic from 0 to 1 TB/s, got \(memoryTraffic / 1e9) GB/s")
    try require(
      (0...CoLoad.mostCacheBytes).contains(cachePressure),
      "coload: expected a working set from 0 to 1 GiB, got \(cachePressure) bytes")
    for device in Set(reserve.keys).union(coload.keys).sorted() {
      let sum = (reserve[device] ?? 0) + (coload[device] ?? 0)
      try require(
        sum <= Self.largestShare,
        "reserve and coload leave too little of \(device): together \(Self.number(sum)), expected at most "
          + "\(Self.largestShare)")
    }
  }
}
