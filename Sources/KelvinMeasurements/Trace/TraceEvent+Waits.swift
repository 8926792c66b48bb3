extension [TraceEvent] {
  /// The events of one inference, with the part of each transfer in which its source was still computing told apart as
  /// waiting: a session times the two together.
  package func separatingWaits() -> [TraceEvent] {
    var busy: [String: [TraceEvent]] = [:]
    for event in self where event.kind == .node { busy[event.device, default: []].append(event) }
    return flatMap { event -> [TraceEvent] in
      guard event.kind == .transfer, let from = event.details["from"] else { return [event] }
      let done =
        (busy[from] ?? []).filter { $0.start < event.end }.map { Swift.min($0.end, event.end) }.max() ?? event.start
      guard done > event.start else { return [event] }
      var wait = event
      wait.kind = .wait
      wait.name = "waiting for \(from)"
      wait.duration = done - event.start
      var copy = event
      copy.start = done
      copy.duration = event.end - done
      return [wait, copy]
    }
  }
}
