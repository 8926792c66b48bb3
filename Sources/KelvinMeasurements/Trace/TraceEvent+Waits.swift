extension [TraceEvent] {
  /// Returns the events of one inference with each transfer divided into waiting and copying, which a session times
  /// together. The transfer waits while its source still computes.
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
