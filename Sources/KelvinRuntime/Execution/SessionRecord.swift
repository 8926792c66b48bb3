import KelvinBasics
package import KelvinDevices
import KelvinMeasurements

/// The record of the latest run of a session that measures nodes: every step, in every iteration.
package struct SessionRecord {
  /// The time of one node in one run, all iterations together.
  package struct NodeTime: Hashable, Sendable {
    package var seconds: Double
    package var runs: Int
    package var clock: NodeTiming.Clock

    package var secondsEach: Double { seconds / Double(max(runs, 1)) }
  }

  typealias Instant = ContinuousClock.Instant

  private enum Subject {
    case segment(Int)
    case transfer(Schedule.Transfer)
    case region(String)
  }

  private struct Entry {
    var subject: Subject
    var start: Instant
    var end: Instant
    var place: Place
    var timings: [NodeTiming] = []
  }

  /// The regions around a step, outermost first, and the iteration number of each loop body among them.
  private struct Place {
    var regions: [String] = []
    var iterations: [Int] = []
  }

  /// The time by node. Nodes that the run did not reach are missing.
  package private(set) var nodes: [String: NodeTime] = [:]
  /// By loop, the number of iterations each time it was reached.
  package private(set) var iterations: [String: [Int]] = [:]
  /// By branch, how often each of its sides was taken.
  package private(set) var sides: [String: (then: Int, otherwise: Int)] = [:]
  /// By device, the number of segments that were started.
  package private(set) var submissions: [String: Int] = [:]
  /// The number of steps that are not among the events because of the limit.
  package private(set) var leftOut = 0

  private let steps: [Schedule.Step]
  private let segments: [Schedule.Run]
  private let host: String
  private var entries: [Entry] = []
  /// By segment, its latest entry, whose timings are known when it has finished.
  private var pending: [Int: Int] = [:]
  private var place = Place()
  private var open: [(entry: Int?, place: Place)] = []
  private var began: Instant
  private static let clock = ContinuousClock()
  /// The maximum number of events. A loop with many iterations has complete sums, but events only for its first
  /// iterations.
  private static let limit = 1 << 14

  init(_ schedule: Schedule, host: String) {
    steps = schedule.flatSteps
    segments = schedule.segments
    self.host = host
    began = Self.clock.now
  }

  static var now: Instant { clock.now }

  mutating func begin() {
    entries.removeAll(keepingCapacity: true)
    (nodes, iterations, sides, submissions, pending, open) = ([:], [:], [:], [:], [:], [])
    (place, leftOut, began) = (Place(), 0, Self.clock.now)
  }

  /// Records a step that began at `start` and has completed or been submitted.
  mutating func add(step number: Int, from start: Instant) {
    switch steps[number] {
    case .run(let segment):
      submissions[segments[segment].device, default: 0] += 1
      pending[segment] = append(.segment(segment), start)
    case .transfer(let transfer): _ = append(.transfer(transfer), start)
    case .branch, .loop: break
    }
  }

  private mutating func append(_ subject: Subject, _ start: Instant) -> Int? {
    guard entries.count < Self.limit else {
      leftOut += 1
      return nil
    }
    entries.append(Entry(subject: subject, start: start, end: Self.clock.now, place: place))
    return entries.count - 1
  }

  /// Records the times of a segment's nodes, once its latest submission has finished.
  mutating func finished(_ segment: Int, _ timings: [NodeTiming]) {
    for timing in timings {
      var time = nodes[timing.node] ?? NodeTime(seconds: 0, runs: 0, clock: timing.clock)
      time.seconds += timing.seconds
      time.runs += 1
      nodes[timing.node] = time
    }
    if let entry = pending.removeValue(forKey: segment) { entries[entry].timings = timings }
  }

  /// Enters a side of a branch, or a loop.
  mutating func enter(_ region: String) {
    open.append((append(.region(region), Self.clock.now), place))
    place.regions.append(region)
  }

  mutating func enter(_ region: String, iteration: Int) {
    open.append((append(.region("\(region), iteration \(iteration + 1)"), Self.clock.now), place))
    place.regions.append(region)
    place.iterations.append(iteration + 1)
  }

  mutating func leave() {
    guard let last = open.popLast() else { return }
    if let entry = last.entry { entries[entry].end = Self.clock.now }
    place = last.place
  }

  mutating func tookSide(_ isFirst: Bool, of branch: String) {
    var counts = sides[branch] ?? (0, 0)
    if isFirst { counts.then += 1 } else { counts.otherwise += 1 }
    sides[branch] = counts
  }

  mutating func ended(_ loop: String, after count: Int) { iterations[loop, default: []].append(count) }

  /// Drops the events and keeps the sums.
  package mutating func forgetSteps() { entries = [] }

  /// Returns the run as trace events; the run begins at 0 s.
  ///
  /// - Parameter value: returns a value's name and byte count.
  func events(_ value: (Schedule.Transfer) -> (name: String, bytes: Int)) -> [TraceEvent] {
    // By device, the end of its latest segment. A submission may have waited for it, since each device runs them in order.
    var ends: [String: Double] = [:]
    return entries.flatMap { entry -> [TraceEvent] in
      let start = (entry.start - began).inSeconds
      let duration = (entry.end - entry.start).inSeconds
      var around: [String: String] = [:]
      if !entry.place.regions.isEmpty { around["region"] = entry.place.regions.joined(separator: "/") }
      if !entry.place.iterations.isEmpty {
        around["trip"] = entry.place.iterations.map(String.init).joined(separator: ".")
      }
      switch entry.subject {
      case .transfer(let transfer):
        let (name, bytes) = value(transfer)
        return [
          TraceEvent(
            name: "\(name): \(transfer.from) → \(transfer.to)", kind: .transfer, device: transfer.to, start: start,
            duration: duration,
            details: around.merging(["bytes": "\(bytes)", "from": transfer.from]) { $1 })
        ]
      case .segment(let segment):
        let device = segments[segment].device
        let begin = max(start, ends[device] ?? 0)
        for timing in entry.timings { ends[device] = max(ends[device] ?? 0, begin + timing.start + timing.seconds) }
        return entry.timings.map { timing in
          TraceEvent(
            name: timing.node, kind: .node, device: device, start: begin + timing.start,
            duration: timing.seconds, details: around.merging(["clock": timing.clock.rawValue]) { $1 })
        }
      case .region(let name):
        return [
          TraceEvent(name: name, kind: .region, device: host, start: start, duration: duration, details: around)
        ]
      }
    }
  }
}
