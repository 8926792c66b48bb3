import Glibc

/// Writes the Trace Event Format that Perfetto and chrome://tracing open.
///
/// One process for each device with one thread for each queue, one process for all transfers with one thread for each
/// route, one process for counters and marks. Times are microseconds from the earliest entry, three decimals.
package enum TraceExport {
  /// - Returns: UTF-8 JSON. The same trace gives the same bytes whatever order it was recorded in.
  package static func chromeJSON(_ trace: Trace) -> [UInt8] {
    let events = trace.events.filter { $0.start.isFinite && $0.duration.isFinite && $0.duration >= 0 }
      .sorted { order($0) < order($1) }
    let counters = trace.counters.filter { $0.at.isFinite }.sorted { ($0.at, $0.name) < ($1.at, $1.name) }
    let marks = trace.marks.filter { $0.at.isFinite }.sorted { ($0.at, $0.name) < ($1.at, $1.name) }
    let origin = [events.first?.start, counters.first?.at, marks.first?.at].compactMap { $0 }.min() ?? 0

    var tracks = Tracks(events)
    var writer = EventWriter(origin: origin)
    for (process, name) in tracks.processes.enumerated() {
      writer.metadata("process_name", process: process, thread: nil, name: name)
      writer.sortIndex(process: process)
    }
    for track in tracks.ordered {
      writer.metadata("thread_name", process: track.process, thread: track.thread, name: track.name)
    }
    for event in events {
      let track = tracks.track(of: event)
      writer.event(event, process: track.process, thread: track.thread)
    }
    for counter in counters { writer.counter(counter, process: tracks.machine) }
    for mark in marks { writer.mark(mark, process: tracks.machine) }
    return writer.finish()
  }

  /// By time, the enclosing span first.
  private static func order(_ event: TraceEvent) -> (Double, Double, String, String, String) {
    (event.start, -event.duration, event.device, event.queue, event.name)
  }

  /// The processes and threads of the exported trace, numbered in reading order.
  private struct Tracks {
    struct Track {
      var process: Int
      var thread: Int
      var name: String
    }
    private struct Key: Hashable {
      var process: String
      var thread: String
    }

    private(set) var processes: [String] = []
    private(set) var ordered: [Track] = []
    private var byKey: [Key: Track] = [:]
    let machine: Int

    init(_ events: [TraceEvent]) {
      let keys = Set(events.map(Self.key)).sorted { ($0.process, $0.thread) < ($1.process, $1.thread) }
      let transfers = "transfers"
      processes = Set(keys.map(\.process)).filter { $0 != transfers }.sorted()
      if keys.contains(where: { $0.process == transfers }) { processes.append(transfers) }
      machine = processes.count
      processes.append("machine")
      for (index, process) in processes.enumerated() {
        for (thread, key) in keys.filter({ $0.process == process }).enumerated() {
          let track = Track(process: index, thread: thread, name: key.thread)
          ordered.append(track)
          byKey[key] = track
        }
      }
    }

    mutating func track(of event: TraceEvent) -> Track {
      byKey[Self.key(event)] ?? Track(process: machine, thread: 0, name: "")
    }

    private static func key(_ event: TraceEvent) -> Key {
      if event.kind == .transfer {
        let route = event.details["from"].map { "\($0) → \(event.device)" } ?? "to \(event.device)"
        return Key(process: "transfers", thread: route)
      }
      return Key(process: event.device, thread: "queue \(event.queue)")
    }
  }

  private struct EventWriter {
    let origin: Double
    private var text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
    private var isFirst = true

    init(origin: Double) { self.origin = origin }

    mutating func metadata(_ kind: String, process: Int, thread: Int?, name: String) {
      let tid = thread.map { ",\"tid\":\($0)" } ?? ""
      add("{\"ph\":\"M\",\"name\":\"\(kind)\",\"pid\":\(process)\(tid),\"args\":{\"name\":\(quoted(name))}}")
    }

    mutating func sortIndex(process: Int) {
      add("{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":\(process),\"args\":{\"sort_index\":\(process)}}")
    }

    mutating func event(_ event: TraceEvent, process: Int, thread: Int) {
      add(
        "{\"ph\":\"X\",\"name\":\(quoted(event.name)),\"cat\":\"\(event.kind.rawValue)\","
          + "\"pid\":\(process),\"tid\":\(thread),"
          + "\"ts\":\(microseconds(event.start - origin)),\"dur\":\(microseconds(event.duration)),"
          + "\"args\":{\(arguments(event.details))}}")
    }

    mutating func counter(_ counter: TraceCounter, process: Int) {
      let values = counter.values.filter { $0.value.isFinite }.sorted { $0.key < $1.key }
        .map { "\(quoted($0.key)):\($0.value)" }.joined(separator: ",")
      add(
        "{\"ph\":\"C\",\"name\":\(quoted(counter.name)),\"pid\":\(process),"
          + "\"ts\":\(microseconds(counter.at - origin)),\"args\":{\(values)}}")
    }

    mutating func mark(_ mark: TraceMark, process: Int) {
      add(
        "{\"ph\":\"i\",\"s\":\"g\",\"name\":\(quoted(mark.name)),\"pid\":\(process),\"tid\":0,"
          + "\"ts\":\(microseconds(mark.at - origin)),\"args\":{\(arguments(mark.details))}}")
    }

    func finish() -> [UInt8] { Array((text + "\n]}\n").utf8) }

    private mutating func add(_ line: String) {
      text += isFirst ? "\n" : ",\n"
      isFirst = false
      text += line
    }

    private func arguments(_ details: [String: String]) -> String {
      details.sorted { $0.key < $1.key }.map { "\(quoted($0.key)):\(quoted($0.value))" }.joined(separator: ",")
    }

    private func microseconds(_ seconds: Double) -> String {
      let nanoseconds = min((seconds * 1e9).rounded(), 9e17)
      let whole = Int(max(nanoseconds, 0))
      let fraction = String(whole % 1000)
      return "\(whole / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
    }

    private func quoted(_ text: String) -> String {
      var result = "\""
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\t": result += "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F:
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        default: result.unicodeScalars.append(scalar)
        }
      }
      return result + "\""
    }
  }
}
