import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinMeasuring
import KelvinVideo
import KelvinVision
import Synchronization

struct StreamCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "stream",
    abstract: "Run a model on videos, cameras and folders of images, frame by frame.",
    discussion: """
      A source is a video file, a folder or pattern of images, a URL such as rtsp://…, a camera (/dev/video0 or 0), \
      or - for YUV4MPEG2 on standard input. Videos need ffmpeg. Several sources share the model and take turns.

      Every frame of a file is answered, in order. A camera or an rtsp source is live: frames that the model has no \
      time for are dropped, and so are those of a file with --live.

      Ctrl-C ends the command with the answers so far and exit status 130; a second Ctrl-C stops at once. Other exit \
      statuses: 64 for a wrong option, 65 for a source that cannot be read, is silent or ends early, 69 for a lost \
      device, 70 if ffmpeg is missing or killed and for a full disk, 75 after --max-seconds or --max-memory. If frames \
      have an error, the status is that of the first one.

      Objects with their tracks, and the video with boxes:
        kelvin stream detector.mlpackage clip.mp4 --track --save boxes.mp4
      A line of JSON for each frame of a camera:
        kelvin stream classifier.mlpackage /dev/video0 --format jsonl
      The rate that a board without a fan sustains for an hour, at the speed of \
      this machine, by playing a clip over and over for a minute:
        kelvin stream detector.mlpackage clip.mp4 --live --loop --duration 60 \\
          --governor --simulate-heat fanless-board --heat-speed 60
      The same rate, by timing some frames of the clip:
        kelvin bench detector.mlpackage --workload stream --source clip.mp4 \\
          --governor --simulate fanless-board --duration 3600
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: "Videos, folders or patterns of images, URLs, cameras, or -.")
  var sources: [String]

  @OptionGroup(title: "Task options") var task: StreamTaskOptions
  @OptionGroup(title: "Frame options") var frames: StreamFrameOptions
  @OptionGroup(title: "Tracking options") var follow: StreamFollowOptions
  @OptionGroup(title: "Result options") var results: StreamOutputOptions
  @OptionGroup(title: "Governor options") var limit: StreamGovernorOptions
  @OptionGroup(title: "Device options") var units: UnitsOption
  @OptionGroup(title: "Model options") var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// The smallest confidence of an object without a track that is shown, with `--track`.
  private static let leastUntracked: Float = 0.5
  /// The number of classes without `--top`.
  private static let usualTop = 5

  func validate() throws {
    guard !sources.isEmpty else { throw ValidationError("name at least one source") }
    guard sources.filter({ $0 == "-" }).count <= 1 else {
      throw ValidationError("standard input can be one source only")
    }
    guard task.top.map({ $0 >= 1 }) ?? true else {
      throw ValidationError("--top must be at least 1, got \(task.top ?? 0)")
    }
    guard frames.frames.map({ $0 >= 1 }) ?? true else {
      throw ValidationError("--frames must be at least 1, got \(frames.frames ?? 0)")
    }
    guard frames.queue >= 1 else { throw ValidationError("--queue must be at least 1, got \(frames.queue)") }
    guard frames.fps.map({ $0 > 0 && $0 <= 1000 }) ?? true else {
      throw ValidationError("--fps must be above 0 and at most 1000, got \(frames.fps ?? 0)")
    }
    guard frames.framesAtOnce.map({ $0 >= 1 }) ?? true else {
      throw ValidationError("--frames-at-once must be at least 1, got \(frames.framesAtOnce ?? 0)")
    }
    guard !limit.governor || (frames.framesAtOnce ?? 1) == 1 else {
      throw ValidationError("--frames-at-once is not for --governor, which answers one frame at a time")
    }
    try output.validate(beside: results.format)
    try results.spreadsheet.validate(writesCSV: results.format == .csv, "--format csv")
    guard results.save == "-" else { return }
    guard sources.count == 1 else { throw ValidationError("--save - takes one source, got \(sources.count)") }
    guard results.format == .table, !output.json else {
      throw ValidationError("--save - writes frames to standard output, where --format and --json would write too")
    }
  }

  func run() throws {
    let timeLimit = TimeLimit(WorkBudget.current)
    Interrupts.prepare()
    let configuration = try options.configuration(units: units.units)
    let parameters =
      try follow.parameters.map { path in try StreamParameters(contentsOf: URL(filePath: path)) } ?? StreamParameters()
    let classNames = try task.labels.map(LabelFile.read)
    let head = try task.head.map { path in
      try recognizing { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    let (opened, absent) = try openedSources()
    if frames.loop, let source = opened.first(where: { !$0.facts.canRepeat }) {
      throw UsageError("--loop is for files and folders of images, and '\(source.facts.name)' is not one")
    }
    if limit.governor, !frames.live, let file = opened.first(where: { !$0.facts.isLive }) {
      throw UsageError("--governor needs --live for '\(file.facts.name)': without a pace it has no rate to govern")
    }
    try checkFiles(opened)
    let model = try Model.loadWithProgress(self.model, configuration)
    let request = try request(model, head, classNames, parameters)
    request.remarks.forEach(Console.note)
    // The files are completed when the reader of the lines has ended.
    if results.report != nil || results.save.map({ $0 != "-" }) ?? false { Console.outlastReader() }

    let saver = try results.save.map { try VideoSaver($0, opened, request) }
    let printer = StreamPrinter(
      results.format, request.kind, VideoRecord.distinct(opened.map(\.facts.name)), top: task.top ?? Self.usualTop,
      isDocument: output.json, isSafe: results.spreadsheet.csvSafe, isForMessages: results.save == "-")
    let shown = ShownObservations(task, follow, leastUntracked: Self.leastUntracked)
    let settings = analysisOptions(parameters)
    let hasSummary = results.format == .table && !output.json
    let progress = Progress("streaming")
    defer { progress.finish() }
    WorkBudget.enter(.predicting)
    let analysis: VideoAnalysis
    let outcomes: [VideoAnalysis.Outcome]
    do {
      (analysis, outcomes) = try Interrupts.cancelling {
        let analysis = try await VideoAnalysis(request, of: opened, options: settings)
        analysis.remarks.forEach(Console.note)
        let display = LiveDisplay(progress, analysis)
        let ending = timeLimit.end(analysis)
        defer { ending?.cancel() }
        let outcomes = try await analysis.run(
          // The summary of a table lists the changes.
          onAction: { if !hasSummary { Console.note($0.line) } },
          onEffect: { if !hasSummary { Console.note($0.line) } },
          { answer in
            let kept = shown.kept(answer)
            try printer.add(answer, kept)
            if Console.isOutputClosed { analysis.cancel() }
            // The saver keeps its error for the end, after the record.
            do { if try saver?.write(answer, kept) == false { analysis.cancel() } } catch is VideoError {
              analysis.cancel()
            }
            display.update(answer)
          })
        return (analysis, outcomes)
      }
    } catch {
      // The frames that were answered stay in a playable file.
      saver?.abandon()
      throw named(error)
    }
    progress.finish()
    let unsaved = saver.flatMap { saver in saver.finish() }
    model.remarks.forEach(Console.note)
    for outcome in outcomes { outcome.remarks.forEach(Console.note) }
    try printer.finish(analysis.record)
    let unwritten = report(analysis)
    try end(absent, outcomes.compactMap(\.error), [unsaved, unwritten], analysis.record.failures, timeLimit)
  }

  /// Opens the sources. Of several, a server or a camera that is not there is left out.
  ///
  /// - Returns: the sources, and the errors of those that are left out.
  private func openedSources() throws -> (sources: [VideoSource], errors: [VideoError]) {
    var (opened, errors): ([VideoSource], [VideoError]) = ([], [])
    for name in sources {
      do throws(VideoError) { opened.append(try VideoSource(name, options: frames.sourceOptions)) } catch {
        guard sources.count > 1, VideoSource.isServerOrCamera(name) else { throw error }
        Console.error(error.description)
        Console.note("'\(VideoSource.shownName(name))' is left out; the other sources go on")
        errors.append(error)
      }
      guard opened.count(where: { $0.facts.kind == .images && $0.facts.frameCount == 1 }) <= 1 else {
        throw UsageError(
          "several sources are single images, which would be videos of one frame each; "
            + "name their folder, or quote the pattern: 'frames/*.png'")
      }
    }
    if opened.isEmpty, let first = errors.first { throw first }
    if frames.fps != nil, let first = opened.first, !opened.contains(where: \.facts.kind.hasChosenRate) {
      throw UsageError("--fps is for images and cameras, and '\(first.facts.name)' has a rate of its own")
    }
    return (opened, errors)
  }

  /// Checks the paths of the files that are written.
  ///
  /// - Throws: `UsageError`, `InputError`.
  private func checkFiles(_ opened: [VideoSource]) throws {
    var written = WrittenFiles()
    if let save = results.save {
      for path in try VideoSaver.files(save, opened) { written.add("--save", path, makesFolder: opened.count > 1) }
    }
    if let report = results.report { written.add("--report", report) }
    let options = [("--head", task.head), ("--labels", task.labels), ("--parameters", follow.parameters)]
    try written.check(
      against: opened.flatMap(\.files).map { ("a source", $0) } + [("the model", model)]
        + options.compactMap { option, path in path.map { ("the file of \(option)", $0) } })
  }

  /// Writes the page if one is requested.
  ///
  /// - Returns: the error of a page that is not written.
  private func report(_ analysis: VideoAnalysis) -> (any Error)? {
    guard let report = results.report else { return nil }
    do {
      try LocalFile.write(try analysis.htmlReport().utf8, to: report)
      Console.note("the report is in '\(report)'")
      return nil
    } catch { return error }
  }

  /// Returns an error with the name of the option that causes it.
  private func named(_ error: any Error) -> any Error {
    guard let fault = error as? ModelError, fault.description.hasPrefix("maximumWatts:") else { return error }
    return UsageError("--max-watts: this machine has no counters of its power; add --simulate-heat CLASS")
  }

  private func analysisOptions(_ parameters: StreamParameters) -> VideoAnalysis.Options {
    var stream = FrameStreamOptions(queue: frames.queue, mostFramesAtOnce: frames.framesAtOnce)
    limit.fill(&stream)
    stream.keepsImages = results.save != nil
    return VideoAnalysis.Options(
      isLive: frames.live ? true : nil, tracks: follow.track, smooths: follow.smooth, parameters: parameters,
      keepsTrackImages: results.report != nil, frameLimit: frames.frames,
      duration: frames.duration.map { .limited(seconds: $0) }, stream: stream)
  }

  private func request(
    _ model: Model, _ head: DetectionHead?, _ labels: [String]?, _ parameters: StreamParameters
  ) throws -> VideoRequest {
    guard head == nil || !model.modelDescription.isClassifier else {
      throw UsageError("--head is for detectors, and the model classifies whole images")
    }
    var request = try recognizing { () throws(VisionError) in
      try VideoRequest(
        model: model, kind: task.task, head: head, labels: labels, normalization: task.pixels.normalization)
    }
    try checkOptions(for: request.kind)
    request.cropAndScaleAction = task.fitting.cropAndScale ?? request.cropAndScaleAction
    switch request {
    case .detection(var detection):
      // Objects of low confidence continue tracks.
      detection.minimumConfidence =
        follow.track
        ? min(task.minConfidence ?? Self.leastUntracked, parameters.leastConfidence) : task.minConfidence
      if let known = detection.labels, let unknown = task.only.first(where: { !known.contains($0) }) {
        throw InputError("the model has no class '\(unknown)'; it has \(known.joined(separator: ", "))")
      }
      return .detection(detection)
    case .pose(var pose):
      pose.minimumConfidence = task.minConfidence ?? pose.minimumConfidence
      return .pose(pose)
    case .classification, .segmentation: return request
    }
  }

  /// - Throws: `UsageError` for an option that has no effect with requests of a kind.
  private func checkOptions(for kind: VideoRequest.Kind) throws {
    func require(_ option: String, _ isGiven: Bool, _ kinds: VideoRequest.Kind...) throws {
      guard isGiven, !kinds.contains(kind) else { return }
      throw UsageError("\(option) is for \(kinds.map(\.rawValue).joined(separator: " and ")), not for \(kind.rawValue)")
    }
    try require("--min-confidence", task.minConfidence != nil, .detection, .pose)
    try require("--only", !task.only.isEmpty, .detection)
    try require("--top", task.top != nil, .classification)
    try require("--track", follow.track, .detection, .pose)
    try require("--smooth", follow.smooth, .classification, .pose)
  }

  /// Reports how the sources ended.
  ///
  /// - Parameters:
  ///   - absent: The errors of sources that were left out, which are printed already.
  ///   - ended: The errors of sources that ended early.
  ///   - unwritten: The errors of files that are not complete.
  ///   - failures: The errors of frames.
  /// - Throws: the first error.
  private func end(
    _ absent: [VideoError], _ ended: [VideoError], _ unwritten: [(any Error)?],
    _ failures: (count: Int, first: VisionError)?, _ limit: TimeLimit
  ) throws {
    let unwritten = unwritten.compactMap { $0 }
    let failed = failures.map { recognized($0.first) }
    // The table has the errors of the sources.
    let isTold = results.format == .table && !output.json && (results.save == "-" || Console.isOutputTerminal)
    if !isTold {
      ended.forEach { Console.error($0.description) }
      if let failures, let failed {
        Console.error(
          "\(failures.count) frame\(failures.count == 1 ? "" : "s") with an error, the first: \(describe(failed))")
      }
    }
    unwritten.forEach { Console.error(describe($0)) }
    if Interrupts.isInterrupted { throw ReportedFailure(status: .interrupted) }
    if let reached = limit.reached {
      Console.error(
        "the limit of \(HumanReadable.seconds(reached)) was reached; a higher one (--max-seconds) lets it go on")
      throw ReportedFailure(status: .limit)
    }
    if let first = absent.first ?? ended.first ?? unwritten.first ?? failed {
      throw ReportedFailure(status: ExitStatus(first).code)
    }
  }
}

/// The end of an analysis before the limit of the command's time, so that its results are complete.
private final class TimeLimit: Sendable {
  /// The largest part of the limit, and the most seconds, that are kept for completing the files.
  private static let (reservedShare, mostReserved) = (0.1, 2.0)

  private let budget: WorkBudget?
  private let began = ContinuousClock.now
  private let isReached = Atomic(false)

  /// Creates the limit when the command begins.
  init(_ budget: WorkBudget?) { self.budget = budget }

  /// The limit in seconds, if it ended the analysis.
  var reached: Double? { isReached.load(ordering: .acquiring) ? budget?.limits.seconds : nil }

  /// Cancels an analysis in time.
  ///
  /// - Returns: The task that does so; nil without a limit.
  func end(_ analysis: VideoAnalysis) -> Task<Void, any Error>? {
    guard let limit = budget?.limits.seconds else { return nil }
    let due = began + .limited(seconds: limit - min(limit * Self.reservedShare, Self.mostReserved))
    return Task {
      try await Task.sleep(until: due)
      isReached.store(true, ordering: .releasing)
      analysis.cancel()
    }
  }
}

/// The choice of observations that are shown.
struct ShownObservations: Sendable {
  private let only: Set<String>
  private let tracks: Bool
  private let least: Float

  init(_ task: StreamTaskOptions, _ follow: StreamFollowOptions, leastUntracked: Float) {
    only = Set(task.only)
    tracks = follow.track
    least = task.minConfidence ?? leastUntracked
  }

  /// Returns the observations of an answer that are shown; the answer's error unchanged.
  func kept(_ answer: VideoAnalysis.Answer) -> Result<VideoObservations, VisionError> {
    guard case .success(.objects(let objects)) = answer.result else { return answer.result }
    return .success(
      .objects(
        objects.filter { object in
          (!tracks || object.id != nil || object.observation.confidence >= least)
            && (only.isEmpty || only.contains(object.observation.labels.first?.identifier ?? ""))
        }))
  }
}

/// The line on a terminal that shows a running stream.
private final class LiveDisplay: Sendable {
  private static let interval = Duration.milliseconds(250)

  private let progress: Progress
  private let analysis: VideoAnalysis
  private let due = Mutex(ContinuousClock.now)

  init(_ progress: Progress, _ analysis: VideoAnalysis) { (self.progress, self.analysis) = (progress, analysis) }

  func update(_ answer: VideoAnalysis.Answer) {
    guard Console.isErrorTerminal else { return }
    let isDue = due.withLock { due in
      guard ContinuousClock.now >= due else { return false }
      due = .now + Self.interval
      return true
    }
    guard isDue else { return }
    let count = analysis.sources[answer.source].facts.frameCount
    let share = analysis.sources.count == 1 ? count.map { Double(answer.frame + 1) / Double(max($0, 1)) } : nil
    let record = analysis.record
    progress.update(share, record.liveLine, rows: record.liveRows)
  }
}
