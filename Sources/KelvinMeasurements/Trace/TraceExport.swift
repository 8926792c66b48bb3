import KelvinBasics

/// Writes the Trace Event Format, which Perfetto and chrome://tracing open: slices on `TraceTracks`, arrows along
/// transfers, counters and marks. Times are microseconds from the earliest entry, with three decimals.
package enum TraceExport {
  /// - Returns: UTF-8 JSON. The same trace gives the same bytes for any recording order.
  package static func chromeJSON(_ trace: Trace) -> [UInt8] {
    let events = trace.events.filter { $0.start.isFinite && $0.duration.isFinite && $0.duration >= 0 }
      .sorted { order($0) < order($1) }
    let counters = trace.counters.filter { $0.at.isFinite }.sorted { ($0.at, $0.name) < ($1.at, $1.name) }
    let marks = trace.marks.filter { $0.at.isFinite }.sorted { ($0.at, $0.name) < ($1.at, $1.name) }
    let origin = [events.first?.start, counters.first?.at, marks.first?.at].compactMap { $0 }.min() ?? 0
    func nanoseconds(_ at: Double) -> Int { Int(min(max(((at - origin) * 1e9).rounded(), 0), 9e17)) }
    // Ends are rounded like beginnings, so that adjacent spans remain adjacent.
    let spans = events.map { nanoseconds($0.start)..<max(nanoseconds($0.end), nanoseconds($0.start)) }

    let tracks = TraceTracks(events, spans)
    var writer = EventWriter()
    for (process, name) in tracks.processes.enumerated() {
      writer.metadata("process_name", process: process, thread: nil, "\"name\":\(JSONText.quoted(name))")
      writer.metadata("process_sort_index", process: process, thread: nil, "\"sort_index\":\(process)")
    }
    for track in tracks.tracks {
      writer.metadata(
        "thread_name", process: track.process, thread: track.thread, "\"name\":\(JSONText.quoted(track.name))")
      writer.metadata(
        "thread_sort_index", process: track.process, thread: track.thread, "\"sort_index\":\(track.thread)")
    }
    for (number, event) in events.enumerated() {
      writer.slice(event, spans[number], tracks.tracks[tracks.trackOf[number]])
    }
    for (number, arrow) in TraceFlows(events).arrows.enumerated() {
      let (from, to) = (spans[arrow.from], spans[arrow.to])
      // An arrow is attached to the slices that enclose its ends.
      let leaves = max(from.lowerBound, from.upperBound - 1)
      guard leaves <= to.lowerBound else { continue }
      writer.flow("s", number, at: leaves, tracks.tracks[tracks.trackOf[arrow.from]])
      writer.flow("f", number, at: to.lowerBound, tracks.tracks[tracks.trackOf[arrow.to]])
    }
    for counter in counters { writer.counter(counter, nanoseconds(counter.at), process: tracks.machine) }
    for mark in marks { writer.mark(mark, nanoseconds(mark.at), process: tracks.machine) }
    return writer.finish()
  }

  /// Returns the sort key: by time, the enclosing span first.
  private static func order(_ event: TraceEvent) -> (Double, Double, String, String, String) {
    (event.start, -event.duration, event.device, event.queue, event.name)
  }
}

/// Writes one event per line. Times are in nanoseconds.
private struct EventWriter {
  private var text = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":["
  private var isFirst = true

  init() {}

  mutating func metadata(_ kind: String, process: Int, thread: Int?, _ argument: String) {
    let tid = thread.map { ",\"tid\":\($0)" } ?? ""
    add("{\"ph\":\"M\",\"name\":\"\(kind)\",\"pid\":\(process)\(tid),\"args\":{\(argument)}}")
  }

  mutating func slice(_ event: TraceEvent, _ span: Range<Int>, _ track: TraceTracks.Track) {
    add(
      "{\"ph\":\"X\",\"name\":\(JSONText.quoted(event.name)),\"cat\":\"\(event.kind.rawValue)\","
        + "\"pid\":\(track.process),\"tid\":\(track.thread),"
        + "\"ts\":\(Self.microseconds(span.lowerBound)),\"dur\":\(Self.microseconds(span.count)),"
        + "\"args\":{\(Self.arguments(event.details))}}")
  }

  mutating func flow(_ phase: String, _ id: Int, at: Int, _ track: TraceTracks.Track) {
    let binding = phase == "f" ? ",\"bp\":\"e\"" : ""
    add(
      "{\"ph\":\"\(phase)\"\(binding),\"name\":\"value\",\"cat\":\"flow\",\"id\":\(id),"
        + "\"pid\":\(track.process),\"tid\":\(track.thread),\"ts\":\(Self.microseconds(at))}")
  }

  mutating func counter(_ counter: TraceCounter, _ at: Int, process: Int) {
    let values = counter.values.filter { $0.value.isFinite }.sorted { $0.key < $1.key }
      .map { "\(JSONText.quoted($0.key)):\($0.value)" }.joined(separator: ",")
    add(
      "{\"ph\":\"C\",\"name\":\(JSONText.quoted(counter.name)),\"pid\":\(process),"
        + "\"ts\":\(Self.microseconds(at)),\"args\":{\(values)}}")
  }

  mutating func mark(_ mark: TraceMark, _ at: Int, process: Int) {
    add(
      "{\"ph\":\"i\",\"s\":\"g\",\"name\":\(JSONText.quoted(mark.name)),\"pid\":\(process),\"tid\":0,"
        + "\"ts\":\(Self.microseconds(at)),\"args\":{\(Self.arguments(mark.details))}}")
  }

  func finish() -> [UInt8] { Array((text + "\n]}\n").utf8) }

  private mutating func add(_ line: String) {
    text += isFirst ? "\n" : ",\n"
    isFirst = false
    text += line
  }

  private static func arguments(_ details: [String: String]) -> String {
    details.sorted { $0.key < $1.key }.map { "\(JSONText.quoted($0.key)):\(JSONText.quoted($0.value))" }.joined(
      separator: ",")
  }

  private static func microseconds(_ nanoseconds: Int) -> String {
    let fraction = String(nanoseconds % 1000)
    return "\(nanoseconds / 1000)." + String(repeating: "0", count: 3 - fraction.utf8.count) + fraction
  }
}
