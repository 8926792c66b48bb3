import KelvinBasics
import KelvinMeasuring
import KelvinReport

extension VideoRecord {
  /// The record for people, as lines of at most `width` columns.
  public func text(width: Int) -> String {
    var lines: [String] = []
    for source in sources {
      if !lines.isEmpty { lines.append("") }
      lines += source.lines(width: width)
    }
    if !steps.isEmpty || otherSteps > 0 { lines.append("") }
    if otherSteps > 0 { lines.append("governor   the first \(otherSteps) steps are left out") }
    for step in steps {
      lines += Self.entry("governor", "at \(HumanReadable.seconds(step.at)) \(step.change): \(step.cause)", width)
      if let effect = step.effect { lines += Self.entry("", "measured: \(effect)", width) }
    }
    return lines.joined(separator: "\n")
  }

  /// Returns lines with a name in the first columns.
  fileprivate static func entry(_ name: String, _ text: String, _ width: Int) -> [String] {
    let indent = 11
    let lines = text.paragraph(width: max(width - indent, 20), indent: 0).split(separator: "\n").map(String.init)
    return lines.enumerated().map { index, line in
      let start = index == 0 ? name : ""
      return start + String(repeating: " ", count: max(indent - start.count, 1)) + line
    }
  }

  /// The latest state in a few words, for a display that is drawn anew: the rate, the age of answers, frames without an
  /// answer, heat and the governor's last step.
  public var liveLine: String {
    var parts: [String] = []
    let rates = sources.compactMap(\.recentRate)
    if !rates.isEmpty { parts.append("\(HumanReadable.significant(rates.reduce(0, +))) frames/s") }
    if let latency = sources.compactMap({ $0.intervals.last?.latencies.mean }).max() {
      parts.append("age \(HumanReadable.seconds(latency))")
    }
    let missed = sources.reduce(0) { $0 + $1.intervals.reduce(0) { $0 + $1.missed } }
    if missed > 0 { parts.append("\(missed) left out") }
    if let heat = heat.last {
      let celsius = celsius.map { "\(HumanReadable.fixed($0, decimals: 0)) °C" }
      parts.append(celsius ?? "headroom \(HumanReadable.fixed(heat.headroom, decimals: 2))")
    }
    if let step = steps.last { parts.append(step.change) }
    return parts.joined(separator: ", ")
  }
}

extension VideoRecord.Source {
  fileprivate var recentRate: Double? {
    // The last interval is not over.
    guard intervals.count > 1 else { return rate }
    return Double(intervals[intervals.count - 2].answered) / intervalSeconds
  }

  fileprivate func lines(width: Int) -> [String] {
    let counts = outcome?.counts
    var frames = "\(counted(counts?.pushed ?? answered, "frame")), \(answered) answered"
    if let rate { frames += ", \(HumanReadable.significant(rate)) a second" }
    var lines = VideoRecord.entry("source", name.printable, width)
    lines += VideoRecord.entry("frames", frames, width)
    if let counts {
      let missing = [
        (counts.dropped, "dropped for newer ones"), (counts.skipped, "left out by the governor"),
        (counts.tooLate, "not begun, too late for the deadline"), (counts.abandoned, "given up at the end"),
        (counts.late, "answered after the deadline"), (errors, "with an error"),
      ].filter { $0.0 > 0 }
      if !missing.isEmpty {
        lines += VideoRecord.entry("", missing.map { "\($0.0) \($0.1)" }.joined(separator: ", "), width)
      }
    }
    if let firstError { lines += VideoRecord.entry("error", "the first one: \(firstError)", width) }
    if let median = latency.quantile(0.5), let high = latency.quantile(0.95) {
      let texts = [median, high, latency.summary.largest].map { HumanReadable.seconds($0) }
      lines += VideoRecord.entry("latency", "median \(texts[0]), 95 % within \(texts[1]), longest \(texts[2])", width)
    }
    let all = tracks.values.sorted { $0.id < $1.id }
    for (index, track) in all.prefix(Self.shownTracks).enumerated() {
      lines += VideoRecord.entry(index == 0 ? "tracks" : "", track.line, width)
    }
    let others = all.count - min(all.count, Self.shownTracks) + otherTracks
    if others > 0 { lines += VideoRecord.entry("", "and \(others) more", width) }
    if let error = outcome?.error { lines += VideoRecord.entry("ended", error.description, width) }
    return lines
  }

  /// The number of tracks that the text lists.
  private static var shownTracks: Int { 20 }
}

extension VideoTrack {
  fileprivate var line: String {
    "\(id) \(label.printable), \(HumanReadable.seconds(first.inSeconds)) to \(HumanReadable.seconds(last.inSeconds)), "
      + counted(frameCount, "frame")
  }
}
