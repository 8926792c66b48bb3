import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinImages
import KelvinMeasuring
import KelvinReport

extension VideoAnalysis {
  /// Returns a self-contained HTML page about the analysis so far: latency, rates, heat and the governor's steps over
  /// time, and the tracks with their images.
  public func htmlReport() throws -> String {
    let record = record
    let answered = record.sources.reduce(0) { $0 + $1.answered }
    var facts = [
      ReportFact("Model", request.model.url.lastPathComponent), ReportFact("Task", request.kind.rawValue),
      ReportFact("Settings", settings.joined(separator: "; ")),
    ]
    if let deadline = options.stream.deadline {
      facts.append(ReportFact("Deadline", HumanReadable.seconds(deadline.inSeconds)))
    }
    if let watts = options.stream.maximumWatts {
      facts.append(ReportFact("Most power", "\(HumanReadable.significant(watts)) W"))
    }
    let rates = record.sources.compactMap(\.rate).reduce(0, +)
    let summary =
      "\(counted(answered, "answer")) to frames of \(counted(record.sources.count, "source"))"
      + (rates > 0 ? ", \(HumanReadable.significant(rates)) a second" : "")
    var content = StreamPage.Content(
      title: "Stream of \(record.sources.map(\.name).joined(separator: ", "))", summary: summary, facts: facts,
      streams: try record.sources.map { try stream($0, record) }, kelvinVersion: kelvinVersion,
      generated: ReportDate.now())
    if record.otherSteps > 0 { content.notes.append("The governor's first \(record.otherSteps) steps are left out.") }
    return StreamPage(content).render()
  }

  private func stream(_ source: VideoRecord.Source, _ record: VideoRecord) throws -> StreamPage.Stream {
    var stream = StreamPage.Stream(name: source.name)
    stream.facts = source.facts
    stream.remarks = (source.outcome?.remarks ?? []) + (source.outcome?.error.map { [$0.description] } ?? [])
    stream.latencies = source.points
    stream.deadline = options.stream.deadline?.inSeconds
    // An interval that is not over would show as a fall of the rate.
    let isOver = source.intervals.last.map { $0.start + source.intervalSeconds <= source.last } ?? true
    let shown = isOver || source.intervals.count == 1 ? source.intervals[...] : source.intervals.dropLast()
    stream.rates = shown.map { interval in
      StreamPage.FrameRate(
        at: interval.start, seconds: source.intervalSeconds, answered: interval.answered,
        dropped: interval.missed - interval.skipped, skipped: interval.skipped)
    }
    stream.heat = record.heat
    stream.heatSource = record.heatSource
    stream.isSimulated = options.stream.simulatedHeat != nil
    stream.steps = record.steps.map { step in
      StreamPage.Step(
        at: step.at, change: step.action.change, cause: step.action.cause, effect: step.effect?.description ?? "")
    }
    let tracks = source.tracks.values.sorted { $0.id < $1.id }
    stream.tracks = try tracks.map { track in
      let jpeg = try track.image.map { try ImageCodec.encode($0, as: .jpeg(quality: 80), name: "track \(track.id)") }
      return StreamPage.TrackSummary(
        id: track.id, label: track.label, firstTime: track.first.inSeconds, lastTime: track.last.inSeconds,
        frameCount: track.frameCount, thumbnail: jpeg.map { Data($0).base64EncodedString() },
        width: track.image?.width ?? 0, height: track.image?.height ?? 0)
    }
    return stream
  }
}

extension VideoRecord.Source {
  fileprivate var facts: [ReportFact] {
    var facts = [
      ReportFact("Frames", "\(outcome?.counts.pushed ?? answered), \(answered) answered"),
      ReportFact("Pace", isLive ? "live: late frames are dropped" : "every frame, as fast as the model goes"),
    ]
    if let rate { facts.append(ReportFact("Rate", "\(HumanReadable.significant(rate)) answers a second")) }
    if let median = latency.quantile(0.5), let high = latency.quantile(0.99) {
      facts.append(
        ReportFact("Latency", "median \(HumanReadable.seconds(median)), 99 % within \(HumanReadable.seconds(high))"))
    }
    if late > 0 { facts.append(ReportFact("Late", "\(late) answers after the deadline")) }
    if let firstError { facts.append(ReportFact("Errors", "\(errors); the first: \(firstError)")) }
    return facts
  }
}
