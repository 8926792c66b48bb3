package import KelvinMeasurements

/// Cumulative counters of processor time at one moment.
package struct ContentionCounters: Sendable, Hashable {
  /// Clock ticks over all processors, from the first line of `/proc/stat`. User time includes guest time.
  package var busyTicks: UInt64
  package var idleTicks: UInt64
  package var stolenTicks: UInt64
  /// Microseconds in which a task waited for a processor, from `/proc/pressure/cpu`; nil if the file does not exist.
  package var pressureMicroseconds: UInt64?
  /// The ticks of this process in `busyTicks`, including its ended children, from `/proc/self/stat`; nil if unreadable.
  package var ownTicks: UInt64?

  package init(
    busyTicks: UInt64, idleTicks: UInt64, stolenTicks: UInt64, pressureMicroseconds: UInt64? = nil,
    ownTicks: UInt64? = nil
  ) {
    self.busyTicks = busyTicks
    self.idleTicks = idleTicks
    self.stolenTicks = stolenTicks
    self.pressureMicroseconds = pressureMicroseconds
    self.ownTicks = ownTicks
  }
}

/// The contention for processor time during one interval.
package struct Contention: Sendable, Hashable, Codable {
  /// The share of processor time that the hypervisor gave to other guests, 0...1.
  package var steal: Double
  /// The share of the interval in which a task waited for a processor, 0...1; nil if unknown.
  package var pressure: Double?
  /// The share of processor time used by any process, 0...1.
  package var utilisation: Double
  /// The share of processor time used by other processes, 0...1; nil if unknown.
  package var neighbours: Double?

  package init(steal: Double, pressure: Double?, utilisation: Double, neighbours: Double? = nil) {
    self.steal = steal
    self.pressure = pressure
    self.utilisation = utilisation
    self.neighbours = neighbours
  }

  package static let flatSteal = 0.02
  package static let flatPressure = 0.10
  /// The share above which other load is detected. Ticks are sampled, so an interval of half a second on two processors
  /// does not resolve less.
  package static let flatBackgroundLoad = 0.05

  /// Whether no task waited noticeably for a processor, so that a slow clock is not caused by contention.
  package var isFlat: Bool { steal <= Self.flatSteal && (pressure ?? 0) <= Self.flatPressure }

  /// Whether others took processor time that this process needed: other guests of the hypervisor, or other processes
  /// while tasks waited. Waiting alone does not count, because a software driver with as many threads as processors
  /// makes this process wait for itself.
  package var isDisturbed: Bool {
    guard steal <= Self.flatSteal else { return true }
    guard let neighbours else { return !isFlat }
    let hasWaiting = pressure.map { $0 > Self.flatPressure } ?? (utilisation > 0.9)
    return neighbours > Self.flatBackgroundLoad && hasWaiting
  }
}

/// Reads contention from `/proc/stat`, `/proc/self/stat` and `/proc/pressure/cpu`.
package struct ContentionReader: Sendable {
  package let files: SystemFiles
  private let companions: [Int32]

  /// - Parameter companions: processes whose time counts as this process's own.
  package init(_ files: SystemFiles = SystemFiles(), companions: [Int32] = []) {
    self.files = files
    self.companions = companions
  }

  package func counters() -> ContentionCounters? {
    guard let stat = files.text("proc/stat"),
      let line = stat.split(separator: "\n").first(where: { $0.hasPrefix("cpu ") })
    else { return nil }
    // user nice system idle iowait irq softirq steal guest guest_nice
    let ticks = line.split(separator: " ").dropFirst().map { UInt64($0) }
    guard ticks.count >= 4, ticks.allSatisfy({ $0 != nil }) else { return nil }
    func tick(_ index: Int) -> UInt64 { index < ticks.count ? ticks[index] ?? 0 : 0 }
    return ContentionCounters(
      busyTicks: tick(0) &+ tick(1) &+ tick(2) &+ tick(5) &+ tick(6), idleTicks: tick(3) &+ tick(4),
      stolenTicks: tick(7), pressureMicroseconds: pressure(),
      ownTicks: ownTicks())
  }

  /// - Parameter seconds: the time between the two on the monotonic clock.
  /// - Returns: nil when no tick passed or a counter decreased.
  package static func between(
    _ earlier: ContentionCounters, _ later: ContentionCounters, seconds: Double
  ) -> Contention? {
    guard later.busyTicks >= earlier.busyTicks, later.idleTicks >= earlier.idleTicks,
      later.stolenTicks >= earlier.stolenTicks
    else { return nil }
    let busy = Double(later.busyTicks - earlier.busyTicks)
    let stolen = Double(later.stolenTicks - earlier.stolenTicks)
    let whole = busy + stolen + Double(later.idleTicks - earlier.idleTicks)
    guard whole > 0 else { return nil }
    var pressure: Double?
    if let before = earlier.pressureMicroseconds, let after = later.pressureMicroseconds, after >= before, seconds > 0 {
      pressure = min(1, Double(after - before) / 1e6 / seconds)
    }
    var neighbours: Double?
    if let before = earlier.ownTicks, let after = later.ownTicks, after >= before {
      neighbours = max(0, busy - Double(after - before)) / whole
    }
    return Contention(steal: stolen / whole, pressure: pressure, utilisation: busy / whole, neighbours: neighbours)
  }

  /// Returns the user and system ticks of the process and of its ended children, fields 14 to 17. The second field is a
  /// name in parentheses that may contain any character.
  private func ownTicks() -> UInt64? {
    ticks(of: "self").map { own in companions.reduce(own) { $0 &+ (ticks(of: "\($1)") ?? 0) } }
  }

  private func ticks(of process: String) -> UInt64? {
    guard let text = files.text("proc/\(process)/stat"), let name = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: name)...].split(separator: " ")
    guard fields.count > 14 else { return nil }
    var sum: UInt64 = 0
    for field in fields[11...14] {
      guard let ticks = UInt64(field) else { return nil }
      sum &+= ticks
    }
    return sum
  }

  private func pressure() -> UInt64? {
    guard let text = files.text("proc/pressure/cpu"),
      let some = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
      let total = some.split(separator: " ").first(where: { $0.hasPrefix("total=") })
    else { return nil }
    return UInt64(total.dropFirst("total=".count))
  }
}
