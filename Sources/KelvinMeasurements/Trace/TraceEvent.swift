/// A time span on one queue of one device.
package struct TraceEvent: Sendable, Hashable, Codable {
  package enum Kind: String, Sendable, Hashable, Codable {
    case load
    case compile
    case segment
    case node
    case transfer
    case wait
    case host
    /// A frame of a stream, from arrival to answer.
    case frame
    /// A side of a branch, a loop, or one iteration of a loop, around the work in it.
    case region
  }

  /// The name for users: the layer, or `input: cpu → vulkan:0`.
  package var name: String
  package var kind: Kind
  /// The device id; for a transfer, the receiving device.
  package var device: String
  /// The queue of the device; `0` if it has only one.
  package var queue: String
  /// Seconds on the monotonic clock, or from the start of the trace.
  package var start: Double
  /// Seconds.
  package var duration: Double
  /// Details for people: operator, bytes, reason, timing source.
  package var details: [String: String]

  package init(
    name: String, kind: Kind, device: String, queue: String = "0", start: Double, duration: Double,
    details: [String: String] = [:]
  ) {
    self.name = name
    self.kind = kind
    self.device = device
    self.queue = queue
    self.start = start
    self.duration = duration
    self.details = details
  }

  package var end: Double { start + duration }
}

/// The values of one counter track at one moment, e.g. headroom, clock ratio, steal.
package struct TraceCounter: Sendable, Hashable, Codable {
  package var name: String
  package var at: Double
  /// Values by series.
  package var values: [String: Double]

  package init(name: String, at: Double, values: [String: Double]) {
    self.name = name
    self.at = at
    self.values = values
  }
}

/// An event at one moment: a governor's action with its cause, a dropped frame.
package struct TraceMark: Sendable, Hashable, Codable {
  package var name: String
  package var at: Double
  package var details: [String: String]

  package init(name: String, at: Double, details: [String: String] = [:]) {
    self.name = name
    self.at = at
    self.details = details
  }
}

/// A recording, in any order.
package struct Trace: Sendable, Hashable, Codable {
  package var events: [TraceEvent]
  package var counters: [TraceCounter]
  package var marks: [TraceMark]

  package init(events: [TraceEvent] = [], counters: [TraceCounter] = [], marks: [TraceMark] = []) {
    self.events = events
    self.counters = counters
    self.marks = marks
  }

  /// Appends another recording, shifted by `offset` seconds.
  package mutating func append(_ other: Trace, at offset: Double) {
    var other = other
    for index in other.events.indices { other.events[index].start += offset }
    for index in other.counters.indices { other.counters[index].at += offset }
    for index in other.marks.indices { other.marks[index].at += offset }
    events += other.events
    counters += other.counters
    marks += other.marks
  }
}
