import KelvinBasics
import KelvinMeasuring
import KelvinReport

extension VideoRecord {
  /// The record for people, as lines of at most `width` columns.
  public func text(width: Int) -> String {
    var lines: [String] = []
    for source in sources {
      if !lines.isEmpty { lines.append("") }
      lines += source.lines(width: width, seen: seen(in: source))
    }
    if !steps.isEmpty || otherSteps > 0 { lines.append("") }
    if otherSteps > 0 { lines.append("setting    the first \(otherSteps) changes are left out") }
    for step in steps {
      lines += Self.entry("setting", step.action.line, width)
      if let effect = step.effect { lines += Self.entry("", effect.text, width) }
    }
    if let lasting { lines += [""] + Self.entry("lasts", lasting, width) }
    return lines.joined(separator: "\n")
  }

  /// The rate at the end of the simulated heat; nil without simulated heat, or before there is a rate.
  private var lasting: String? {
    guard let simulatedHeat, let peakHeadroom, let end = sources.map(\.last).max() else { return nil }
    let rates = sources.compactMap { $0.rate(since: end * 5 / 6) }
    guard let window = rates.map(\.seconds).max() else { return nil }
    let speed = simulatedHeat.speed
    func time(_ seconds: Double) -> String {
      let heat = seconds * speed
      return HumanReadable.seconds(heat < 120 ? heat.rounded() : (heat / 60).rounded() * 60)
    }
    let rate = HumanReadable.significant(rates.reduce(0) { $0 + $1.perSecond })
    let text =
      "\"\(simulatedHeat.envelope)\": \(rate) frames/s in the "
      + "last \(time(window)) of \(time(end)), simulated; heat at most "
      + "\(HumanReadable.fixed(peakHeadroom, decimals: 2)) of the limit. Frames have the speed of this machine."
    guard end * speed < Self.hour - 60 else { return text }
    return text + " An hour takes \(HumanReadable.seconds(Self.hour / speed)) (--loop and --duration, or --heat-speed)."
  }

  /// Seconds.
  private static let hour = 3600.0

  /// Returns lines with a name in the first columns.
  fileprivate static func entry(_ name: String, _ text: String, _ width: Int) -> [String] {
    let indent = 11
    let lines = text.paragraph(width: max(width - indent, 20), indent: 0).split(separator: "\n").map(String.init)
    return lines.enumerated().map { index, line in
      let start = index == 0 ? name : ""
      return start + String(repeating: " ", count: max(indent - start.count, 1)) + line
    }
  }

  /// The most labels that the text lists.
  private static let shownLabels = 5

  /// Returns the name and the text of the line about the observations in a source; nil without an answer.
  private func seen(in source: Source) -> (name: String, text: String)? {
    let seen = source.seen
    let canBeEmpty = kind == .detection || kind == .pose
    guard seen.frameCount > 0, canBeEmpty || !seen.entries.isEmpty else { return nil }
    func list(_ entries: [SeenLabels.Entry], _ text: (SeenLabels.Entry) -> String) -> String {
      let others = entries.count - min(entries.count, Self.shownLabels)
      return (entries.prefix(Self.shownLabels).map(text) + (others > 0 ? ["\(others) more"] : []))
        .joined(separator: ", ")
    }
    func percent(_ share: Double) -> String { HumanReadable.percent(share / Double(seen.frameCount)) }
    let byFrames = seen.entries.sorted { $0.frameCount > $1.frameCount }
    switch kind {
    case .classification:
      return ("classes", list(byFrames) { "\($0.label.printable) in \(percent(Double($0.frameCount))) of the frames" })
    case .segmentation:
      let byShares = seen.entries.sorted { $0.shares > $1.shares }
      return ("segments", list(byShares) { "\($0.label.printable) \(percent($0.shares))" } + " of the pixels")
    case .detection, .pose:
      let (name, noun) = kind == .pose ? ("poses", "person") : ("objects", "object")
      guard !seen.entries.isEmpty else {
        let least = minimumConfidence.map { "the minimum confidence \($0)" } ?? "the model's minimum confidence"
        return (name, "no \(noun) " + (tracks ? "that could be followed" : "above \(least)"))
      }
      return (
        name,
        list(byFrames) { entry in
          "\(entry.label.isEmpty ? noun : entry.label.printable) in \(entry.frameCount) of "
            + "\(counted(seen.frameCount, "frame")), at most \(entry.most) at once"
        }
      )
    }
  }

  /// The latest state in a few words, for a display that is drawn anew: the rate, the age of answers, and frames
  /// without an answer.
  public var liveLine: String {
    var parts: [String] = []
    let rates = sources.compactMap(\.recentRate)
    if !rates.isEmpty { parts.append("\(HumanReadable.significant(rates.reduce(0, +))) frames/s") }
    if let latency = sources.compactMap({ $0.intervals.last?.latencies.mean }).max() {
      parts.append("age \(HumanReadable.seconds(latency))")
    }
    let missed = sources.reduce(0) { $0 + $1.intervals.reduce(0) { $0 + $1.missed } }
    let skipped = sources.reduce(0) { $0 + $1.intervals.reduce(0) { $0 + $1.skipped } }
    if missed > skipped { parts.append("\(missed - skipped) dropped") }
    if skipped > 0 { parts.append("\(skipped) left out") }
    return parts.joined(separator: ", ")
  }

  /// Lines below ``liveLine``: heat, and the last change of the setting with its cause.
  public var liveRows: [String] {
    var rows: [String] = []
    if let heat = heat.last {
      let celsius = celsius.map { ", \(HumanReadable.fixed($0, decimals: 0)) °C" } ?? ""
      rows.append("heat \(HumanReadable.fixed(heat.headroom, decimals: 2)) of the limit\(celsius)")
    }
    if let step = steps.last {
      rows.append("setting at \(HumanReadable.seconds(step.at)): \(step.action.change), \(step.action.cause)")
    }
    return rows
  }
}

extension VideoRecord.Source {
  fileprivate var recentRate: Double? {
    // The last interval is not over.
    guard intervals.count > 1 else { return rate }
    return Double(intervals[intervals.count - 2].answered) / intervalSeconds
  }

  /// - Parameter seen: The name and the text of the line about the observations.
  fileprivate func lines(width: Int, seen: (name: String, text: String)?) -> [String] {
    let counts = outcome?.counts
    var frames = "\(counted(counts?.pushed ?? answered, "frame")), \(answered) answered"
    if let rate { frames += ", \(HumanReadable.significant(rate)) a second" }
    var lines = VideoRecord.entry("source", name.printable, width)
    lines += VideoRecord.entry("frames", frames, width)
    if let counts {
      let missing = [
        (counts.dropped, "dropped for newer ones"), (counts.skipped, "left out by the governor"),
        (counts.tooLate, "not begun, too late for the deadline"), (counts.abandoned, "given up at the end"),
        (late, "answered after the deadline"), (errors, "with an error"),
      ].filter { $0.0 > 0 }
      if !missing.isEmpty {
        lines += VideoRecord.entry("", missing.map { "\($0.0) \($0.1)" }.joined(separator: ", "), width)
      }
    }
    if let seen { lines += VideoRecord.entry(seen.name, seen.text, width) }
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
