/// The breakdown of the time of one inference. The parts add up to `endToEnd`.
package struct Account: Hashable, Sendable, Codable {
  /// Seconds from the first step to the last output.
  package var endToEnd: Double
  /// Seconds in which some device computed a node.
  package var layers: Double
  /// Seconds in which values were copied to another device and no node was computed.
  package var transfers: Double
  /// Seconds in which the host waited for another device to start, finish and signal, beyond the time of its nodes.
  package var waits: Double
  /// The remaining seconds: dispatch, bookkeeping, and time that no clock covers.
  package var residual: Double

  /// The unexplained fraction of the whole, 0…1.
  package var residualShare: Double { endToEnd > 0 ? residual / endToEnd : 0 }

  package init(endToEnd: Double, layers: Double, transfers: Double, waits: Double, residual: Double) {
    (self.endToEnd, self.layers, self.transfers) = (endToEnd, layers, transfers)
    (self.waits, self.residual) = (waits, residual)
  }

  /// - Parameters:
  ///   - events: the nodes and transfers of one inference, in seconds from its beginning.
  ///   - endToEnd: the whole time of the inference on the same clock.
  ///   - copying: the seconds of its copies alone; the rest of the transfers' spans is waiting.
  package init(_ events: [TraceEvent], endToEnd: Double, copying: Double) {
    func spans(_ kind: TraceEvent.Kind) -> Spans {
      Spans(events.filter { $0.kind == kind }.map { ($0.start, $0.end) }, within: endToEnd)
    }
    let nodes = spans(.node)
    let crossing = spans(.transfer)
    // Device timestamps give the duration of a node, but not the delay from its submission to its start. Node time that
    // the timeline does not cover was spent while the host was blocked.
    let placed = nodes.length
    let computed = min(endToEnd, max(placed, Self.busiestDevice(events)))
    let blocked = max(0, crossing.outside(nodes) - (computed - placed))
    self.endToEnd = endToEnd
    layers = computed
    transfers = min(max(0, copying), blocked)
    waits = min(blocked - transfers, max(0, endToEnd - layers - transfers))
    residual = endToEnd - layers - transfers - waits
  }

  /// Returns the node seconds of the device that computed most.
  private static func busiestDevice(_ events: [TraceEvent]) -> Double {
    var sums: [String: Double] = [:]
    for event in events where event.kind == .node { sums[event.device, default: 0] += event.duration }
    return sums.values.max() ?? 0
  }
}

/// Disjoint time spans in ascending order.
private struct Spans {
  private var spans: [(start: Double, end: Double)] = []

  init(_ all: [(start: Double, end: Double)], within length: Double) {
    for span in all.sorted(by: { $0.start < $1.start }) {
      let (start, end) = (max(0, span.start), min(length, span.end))
      guard start < end else { continue }
      if let last = spans.last, start <= last.end {
        spans[spans.count - 1].end = max(last.end, end)
      } else {
        spans.append((start, end))
      }
    }
  }

  var length: Double { spans.reduce(0) { $0 + $1.end - $1.start } }

  /// Returns the length of the part that `other` does not cover.
  func outside(_ other: Spans) -> Double {
    var shared = 0.0
    var index = 0
    for span in spans {
      while index < other.spans.count, other.spans[index].end <= span.start { index += 1 }
      var next = index
      while next < other.spans.count, other.spans[next].start < span.end {
        shared += min(span.end, other.spans[next].end) - max(span.start, other.spans[next].start)
        next += 1
      }
    }
    return max(0, length - shared)
  }
}
