/// The processes and threads of an exported trace, numbered in reading order. Each device is a process with a thread
/// for each queue. One process holds all transfers with a thread for each route, and one the counters and marks.
///
/// The slices of a thread must nest, so spans that overlap partially are put on further threads of the same name.
struct TraceTracks {
  struct Track: Hashable {
    var process: Int
    var thread: Int
    var name: String
  }

  /// The names by number.
  private(set) var processes: [String] = []
  private(set) var tracks: [Track] = []
  /// The index of the track of each event.
  private(set) var trackOf: [Int]
  /// The process of counters and marks.
  let machine: Int

  private struct Key: Hashable {
    var process: String
    var thread: String
    /// The index of the thread among those of the same name.
    var copy: Int
  }

  /// - Parameter events: in order of time, the enclosing span first; spans are in nanoseconds.
  init(_ events: [TraceEvent], _ spans: [Range<Int>]) {
    var open: [Key: [Int]] = [:]
    var keys: [Key] = []
    for (event, span) in zip(events, spans) {
      var key = Self.key(event)
      while true {
        var ends = open[key] ?? []
        while let last = ends.last, last <= span.lowerBound { ends.removeLast() }
        guard ends.last.map({ span.upperBound > $0 }) ?? false else {
          open[key] = ends + [span.upperBound]
          break
        }
        key.copy += 1
      }
      keys.append(key)
    }
    let ordered = Set(keys).sorted { ($0.process, $0.thread, $0.copy) < ($1.process, $1.thread, $1.copy) }
    processes = Set(ordered.map(\.process)).filter { $0 != Self.transfers }.sorted()
    if ordered.contains(where: { $0.process == Self.transfers }) { processes.append(Self.transfers) }
    machine = processes.count
    processes.append("machine")
    var numbers: [Key: Int] = [:]
    for (number, process) in processes.enumerated() {
      for (thread, key) in ordered.filter({ $0.process == process }).enumerated() {
        numbers[key] = tracks.count
        tracks.append(Track(process: number, thread: thread, name: key.thread))
      }
    }
    trackOf = keys.map { numbers[$0] ?? 0 }
  }

  private static let transfers = "transfers"

  private static func key(_ event: TraceEvent) -> Key {
    if event.kind == .transfer {
      let route = event.details["from"].map { "\($0) → \(event.device)" } ?? "to \(event.device)"
      return Key(process: transfers, thread: route, copy: 0)
    }
    let thread =
      switch event.kind {
      case .frame: "frames"
      case .region: "regions"
      default: "queue \(event.queue)"
      }
    return Key(process: event.device, thread: thread, copy: 0)
  }
}

/// The arrows of a trace: from the producer of a value to its transfer, and on to the first work on the receiving
/// device.
struct TraceFlows {
  /// The indices of the two events.
  private(set) var arrows: [(from: Int, to: Int)] = []

  /// - Parameter events: in order of time.
  init(_ events: [TraceEvent]) {
    var work: [String: [Int]] = [:]
    for (number, event) in events.enumerated() where event.kind == .node || event.kind == .segment {
      work[event.device, default: []].append(number)
    }
    // The producer is the last work on the source device that began before the transfer.
    for (number, transfer) in events.enumerated() where transfer.kind == .transfer {
      if let from = transfer.details["from"], let candidates = work[from] {
        let later = Self.firstIndex(candidates) { events[$0].start >= transfer.start }
        if later > 0 { arrows.append((candidates[later - 1], number)) }
      }
      if let candidates = work[transfer.device] {
        let next = Self.firstIndex(candidates) { events[$0].start >= transfer.end - 1e-9 }
        if next < candidates.count { arrows.append((number, candidates[next])) }
      }
    }
  }

  /// Returns by bisection the index of the first number for which `holds`; `holds` must be true for all after it.
  private static func firstIndex(_ numbers: [Int], where holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if holds(numbers[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
