import ArgumentParser
import FoundationEssentials
import KelvinBasics
import KelvinMeasuring
import KelvinVideo

/// The options of `stream`: what is asked of the model.
struct StreamTaskOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The task: classification, detection, segmentation or pose. (default: what suits the model)", valueName: "task"),
    transform: Self.kind)
  var task: VideoRequest.Kind?

  @Option(
    help: ArgumentHelp(
      #"""
      A JSON file that describes how a detector's outputs become boxes; see 'docs/detection-heads.md'. For YOLOv8: \#
      {"format": "kelvin-head", "version": 1, "family": "yolov8", "normalization": "0:1"}
      """#, valueName: "file"))
  var head: String?

  @Option(
    help: ArgumentHelp("A file of class labels, one per line, instead of the model's own.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp(
      """
      The minimum confidence of an object or a pose, 0 to 1. With --track, less confident objects still continue \
      tracks. (default: set by the model; 0.5 with --track)
      """, valueName: "share"), transform: ConfidenceOptions.share)
  var minConfidence: Float?

  @Option(help: ArgumentHelp("Show only objects of this class. Repeatable.", valueName: "label"))
  var only: [String] = []

  @Option(help: ArgumentHelp("The number of classes to show for each frame. (default: 5)", valueName: "n"))
  var top: Int?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var fitting: CropOption

  private static func kind(_ text: String) throws -> VideoRequest.Kind {
    guard let kind = VideoRequest.Kind(rawValue: text) else {
      throw ValidationError("'\(text)' is not a task; use classification, detection, segmentation or pose")
    }
    return kind
  }
}

/// The options of `stream`: which frames are read, and when.
struct StreamFrameOptions: ParsableArguments {
  @Flag(
    help: """
      Let the frames of a file arrive at the pace of their times, and drop those that the model has no time for, as \
      from a camera. (default: every frame, in order, as fast as the model goes)
      """)
  var live = false

  @Flag(help: "Begin a file or a folder of images again at its end, until --frames, --duration or Ctrl-C.")
  var loop = false

  @Option(
    help: ArgumentHelp(
      "The rate of images in a folder, and of a camera that can choose. (default: 30, and the camera's own)",
      valueName: "n"), transform: decimalNumber)
  var fps: Double?

  @Option(help: ArgumentHelp("Stop after this number of frames of each source.", valueName: "n"))
  var frames: Int?

  @Option(
    help: ArgumentHelp(
      "Stop after this time of this machine's clock, not of the video: 90, 45s, 30m, 1h.", valueName: "time"),
    transform: TimeSpan.seconds)
  var duration: Double?

  @Option(
    help: ArgumentHelp(
      "The longest wait for a camera or a server that sends nothing. (default: 10s)", valueName: "time"),
    transform: TimeSpan.seconds)
  var timeout: Double?

  @Option(
    help: ArgumentHelp(
      "The number of frames that may wait; one more drops the oldest of a live source.", valueName: "n"))
  var queue = 1

  @Option(
    help: ArgumentHelp(
      """
      The most frames to predict at the same time, each with its share of the CPU's threads. The first frames show \
      whether that answers more per second. (default: the CPU's threads; 1 for live sources and a governor)
      """, valueName: "n"))
  var framesAtOnce: Int?

  var sourceOptions: VideoSource.Options {
    var options = VideoSource.Options()
    if let fps { (options.imagesPerSecond, options.cameraFramesPerSecond) = (fps, fps) }
    options.repeats = loop
    if let timeout { options.timeout = .limited(seconds: timeout) }
    return options
  }
}

/// The options of `stream`: what connects one frame with the next.
struct StreamFollowOptions: ParsableArguments {
  @Flag(help: "Follow objects and people from frame to frame. Each gets a number that stays the same.")
  var track = false

  @Flag(help: "Smooth confidences of classes and places of joints over time.")
  var smooth = false

  @Option(
    help: ArgumentHelp(
      "A JSON file with parameters of tracking and smoothing; see 'docs/guide/how-to/stream.md'.", valueName: "file"))
  var parameters: String?
}

/// The options of `stream`: what is written.
struct StreamOutputOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Write the video with boxes, segments, joints and names, and with the sound of the source: .mp4, .mov or .mkv. \
      With several sources, a folder. - writes frames as YUV4MPEG2 to standard output, for 'ffplay -'.
      """, valueName: "file"))
  var save: String?

  @Option(
    help: ArgumentHelp("Write an HTML page about latency, heat, the governor and tracks.", valueName: "file.html"))
  var report: String?

  @Option(
    help: ArgumentHelp(
      "The output: table, a summary at the end; jsonl or csv, a line for each frame or result.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var spreadsheet: SpreadsheetOption
}

/// The options of `stream`: limits to which the governor keeps.
struct StreamGovernorOptions: ParsableArguments {
  @Flag(
    help: """
      Let a governor change to a leaner plan, fewer threads, a lower precision or fewer frames, so that the machine \
      stays below its limit of heat. A file needs --live.
      """)
  var governor = false

  @Option(
    help: ArgumentHelp(
      """
      The time after a frame's arrival until which its answer is useful: 100ms. A frame that would be late is left \
      out; with --governor, late answers lead to a faster plan. Without --live, the time for each frame of a file, of \
      which none is left out.
      """, valueName: "time"), transform: TimeSpan.seconds)
  var deadline: Double?

  @Option(
    help: ArgumentHelp(
      "The most power of the machine in watts, for --governor. Needs counters of power, or --simulate-heat.",
      valueName: "watts"), transform: decimalNumber)
  var maxWatts: Double?

  @Option(
    help: ArgumentHelp(
      "The class of this machine for the thermal model: \(Self.classes), or a file.", valueName: "envelope"))
  var envelope: String?

  @OptionGroup var simulated: SimulatedHeatOptions

  private static let classes = "phone, fanless-board, fanless-laptop, laptop, desktop, server"

  func validate() throws {
    guard !governor else { return }
    let given = [
      ("--max-watts", maxWatts != nil), ("--simulate-heat", simulated.heat != nil), ("--envelope", envelope != nil),
    ]
    for (option, isGiven) in given where isGiven {
      throw ValidationError("\(option) is for a governor; add --governor")
    }
  }

  func fill(_ stream: inout FrameStreamOptions) {
    stream.isGoverned = governor
    stream.deadline = deadline.map { .limited(seconds: $0) }
    stream.maximumWatts = maxWatts
    stream.thermalEnvelope = envelope
    stream.simulatedHeat = simulated.heat
  }
}
