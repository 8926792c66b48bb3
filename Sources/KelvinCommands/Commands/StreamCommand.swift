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

      Ctrl-C ends the command with the answers so far and exit status 130; a second Ctrl-C stops at once.

      Objects with their tracks, and the video with boxes:
        kelvin stream detector.mlpackage clip.mp4 --track --save boxes.mp4
      A line of JSON for each frame of a camera:
        kelvin stream classifier.mlpackage /dev/video0 --format jsonl
      The rate that a board without a fan sustains:
        kelvin stream detector.mlpackage clip.mp4 --live --governor
        --simulate-heat fanless-board --heat-speed 60 --report stream.html
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

  func validate() throws {
    guard !sources.isEmpty else { throw ValidationError("name at least one source") }
    guard sources.filter({ $0 == "-" }).count <= 1 else {
      throw ValidationError("standard input can be one source only")
    }
    guard task.top >= 1 else { throw ValidationError("--top must be at least 1, got \(task.top)") }
    guard frames.frames.map({ $0 >= 1 }) ?? true else {
      throw ValidationError("--frames must be at least 1, got \(frames.frames ?? 0)")
    }
    guard frames.queue >= 1 else { throw ValidationError("--queue must be at least 1, got \(frames.queue)") }
    guard frames.fps.map({ $0 > 0 && $0 <= 1000 }) ?? true else {
      throw ValidationError("--fps must be above 0 and at most 1000, got \(frames.fps ?? 0)")
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
    Interrupts.prepare()
    let configuration = try options.configuration(units: units.units)
    let parameters =
      try follow.parameters.map { path in try StreamParameters(contentsOf: URL(filePath: path)) } ?? StreamParameters()
    let classNames = try task.labels.map(LabelFile.read)
    let head = try task.head.map { path in
      try recognizing { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    let opened = try sources.map { try VideoSource($0, options: frames.sourceOptions) }
    let model = try Model.loadWithProgress(self.model, configuration)
    let request = try request(model, head, classNames, parameters)
    request.remarks.forEach(Console.note)

    let saver = try results.save.map { try VideoSaver($0, opened, request) }
    let printer = StreamPrinter(
      results.format, request.kind, opened.map(\.facts.name), top: task.top,
      isDocument: output.json, isSafe: results.spreadsheet.csvSafe, isForMessages: results.save == "-")
    let shown = ShownObservations(task, follow, leastUntracked: Self.leastUntracked)
    let settings = analysisOptions(parameters)
    let progress = Progress("streaming")
    defer { progress.finish() }
    let analysis: VideoAnalysis
    let outcomes: [VideoAnalysis.Outcome]
    do {
      (analysis, outcomes) = try Interrupts.cancelling {
        let analysis = try await VideoAnalysis(request, of: opened, options: settings)
        let display = LiveDisplay(progress, analysis)
        let outcomes = try await analysis.run(
          onAction: { Console.note("at \(HumanReadable.seconds($0.time.inSeconds)) \($0)") },
          onEffect: { Console.note("measured: \($0)") },
          { answer in
            let kept = shown.kept(answer)
            try printer.add(answer, kept)
            // The saver keeps its error for the end, after the record.
            do { try saver?.write(answer, kept) } catch is VideoError { analysis.cancel() }
            display.update(answer)
          })
        return (analysis, outcomes)
      }
    } catch {
      // The frames that were answered stay in a playable file.
      saver?.abandon()
      throw error
    }
    progress.finish()
    let unsaved = saver.flatMap { saver in saver.finish() }
    model.remarks.forEach(Console.note)
    for outcome in outcomes { outcome.remarks.forEach(Console.note) }
    if let report = results.report {
      try LocalFile.write(try analysis.htmlReport().utf8, to: report)
      Console.note("the report is in '\(report)'")
    }
    try printer.finish(analysis.record)
    try end(outcomes, unsaved)
  }

  private func analysisOptions(_ parameters: StreamParameters) -> VideoAnalysis.Options {
    var stream = FrameStreamOptions(queue: frames.queue)
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
    var request = try recognizing { () throws(VisionError) in
      try VideoRequest(
        model: model, kind: task.task, head: head, labels: labels, normalization: task.pixels.normalization)
    }
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
      guard task.only.isEmpty else { throw UsageError("--only is for detection, not for pose") }
      pose.minimumConfidence = task.minConfidence ?? pose.minimumConfidence
      return .pose(pose)
    case .classification, .segmentation:
      guard task.minConfidence == nil, task.only.isEmpty else {
        throw UsageError("--min-confidence and --only are not for \(request.kind.rawValue)")
      }
      return request
    }
  }

  /// Reports how the sources ended.
  ///
  /// - Throws: the error of the first source that ended early, else of the video that could not be saved.
  private func end(_ outcomes: [VideoAnalysis.Outcome], _ unsaved: VideoError?) throws {
    let errors = outcomes.compactMap(\.error) + (unsaved.map { [$0] } ?? [])
    errors.forEach { Console.error($0.description) }
    if Interrupts.isInterrupted { throw ReportedFailure(status: .interrupted) }
    if let first = errors.first { throw ReportedFailure(status: ExitStatus(first).code) }
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
    progress.update(share, analysis.record.liveLine)
  }
}
