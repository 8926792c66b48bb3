package import Kelvin
import KelvinBasics
import KelvinCollections
import Synchronization

/// A video file, images, a camera, a stream of a server, or YUV4MPEG2 on standard input, as frames in order.
///
/// ffmpeg decodes video in a process of its own. Frames are read from a pipe into memory that the image keeps, without
/// another copy.
///
/// ```swift
/// let source = try VideoSource("bottles.mp4")
/// while let frame = try source.next() { print(frame.number, frame.time, frame.image.width) }
/// ```
public final class VideoSource: Sendable {
  /// The options of a source.
  public struct Options: Sendable {
    /// The rate at which images follow one another.
    public var imagesPerSecond = 30.0
    /// Whether a video file or images begin again at their end. Other sources are read once.
    public var repeats = false
    /// The longest time without data from a camera or a server, and the longest time until a source is open.
    public var timeout = Duration.seconds(10)
    /// The size of a camera's frames; nil for the camera's own.
    public var cameraSize: (width: Int, height: Int)?
    /// The rate of a camera's frames; nil for the camera's own.
    public var cameraFramesPerSecond: Double?

    /// Creates the default options.
    public init() {}
  }

  /// The properties of the source.
  public let facts: VideoFacts
  /// The file and its facts, for a writer that takes its sound and its unit of times; nil for other sources.
  let original: (path: String, probe: MediaProbe)?
  /// The paths of the files that the source reads; empty for a camera and a server.
  package let files: [String]

  private let cancellation = CancelSignal()
  private let notes: RemarkList
  private let reader: Mutex<Reader>
  private let isAtEnd = Atomic(false)

  private struct Reader: @unchecked Sendable {
    let frames: any FrameReader
  }

  /// Opens a source and finds out its properties. The first frame is decoded later.
  ///
  /// - Parameters:
  ///   - name: The path of a video or an image; a folder or a pattern (`*`, `?`, `[…]`) of images; a URL of the schemes
  ///     `rtsp`, `rtsps`, `http`, `https`, `rtmp`, `rtmps`, `srt`, `udp` and `tcp`; a camera as `/dev/video0` or `0`;
  ///     `-` for YUV4MPEG2 on standard input.
  ///   - options: The options.
  /// - Throws: ``VideoError``: `request`, `absent`, `unreadable`, `silent`, `toolMissing`, `toolFailed`.
  public init(_ name: String, options: Options = Options()) throws(VideoError) {
    let shown = SourceName.shown(name)
    let source = try SourceName(name)
    let cancellation = cancellation
    let open: () throws(VideoError) -> any FrameReader
    var frames: any FrameReader
    var facts: VideoFacts
    let notes: RemarkList
    var original: (String, MediaProbe)?
    switch source {
    case .images(let files):
      let images = try ImageFrames(files, name: shown, rate: options.imagesPerSecond, cancellation)
      (frames, facts, notes) = (images, images.facts, images.remarks)
      open = { () throws(VideoError) in
        try ImageFrames(files, name: shown, rate: options.imagesPerSecond, cancellation)
      }
    case .pipe:
      let input = Y4MFrames.standardInput(cancellation)
      let video = try Y4MFrames(input, name: "standard input", rate: options.imagesPerSecond)
      (frames, facts, notes) = (video, video.facts, video.remarks)
      open = { video }
    case .file, .camera, .network:
      let probe = try MediaProbe(source.input(options, nil), name: shown, timeout: source.probeTimeout(options))
      let (kind, isLive) = source.nature(probe)
      facts = VideoFacts(shown, kind, isLive: isLive, probe)
      notes = RemarkList(probe.remarks)
      open = {
        DecodedFrames(
          source.input(options, probe.version), probe, name: shown, isLive: isLive, canEnd: !isLive,
          timeout: kind == .file ? nil : options.timeout, cancellation, notes)
      }
      frames = try open()
      if case .file(let path) = source { original = (path, probe) }
    }
    if options.repeats, facts.canRepeat {
      frames = RepeatedFrames(frames, framesPerSecond: facts.framesPerSecond, cancellation, open: open)
      (facts.duration, facts.frameCount) = (nil, nil)
    }
    (self.facts, self.notes, self.original) = (facts, notes, original)
    files = source.files
    reader = Mutex(Reader(frames: frames))
  }

  deinit { cancel() }

  /// Waits for the next frame. One caller at a time.
  ///
  /// - Returns: nil at the end, after ``cancel()``, and after an error.
  /// - Throws: ``VideoError``: `unreadable` if no frame can be decoded; `endedEarly` at the end of a damaged file, and
  ///   when a server or a camera stops; `silent` for a live source that sends nothing; `toolMissing` and `toolFailed`.
  public func next() throws(VideoError) -> VideoFrame? {
    try reader.withLock { (reader) throws(VideoError) -> VideoFrame? in
      let frame = try reader.frames.next()
      if frame == nil, !cancellation.isSet { isAtEnd.store(true, ordering: .releasing) }
      return frame
    }
  }

  /// Ends the source, from any thread: ``next()`` soon returns nil, and the decoder is ended.
  public func cancel() {
    cancellation.set()
    // A call of `next` that is in progress sees the signal and closes the reader itself.
    _ = reader.withLockIfAvailable { $0.frames.close() }
  }

  /// Has frames decoded only within a part; the pixels outside are zero.
  ///
  /// - Parameter part: In stored pixels, with even `x` and `y`.
  /// - Returns: false, without an effect, after the first frame, and for a source that ffmpeg does not decode.
  package func decode(only part: PixelRect) -> Bool { reader.withLock { $0.frames.decode(only: part) } }

  /// Notes about the source so far, one line each: a changed size, damaged frames, an unusual rotation.
  public var remarks: [String] { notes.all }

  /// Whether a name is that of a server or a camera, which may be down for a while.
  package static func isServerOrCamera(_ name: String) -> Bool { SourceName.isServerOrCamera(name) }

  /// Returns a name without the user and password of a URL.
  package static func shownName(_ name: String) -> String { SourceName.shown(name) }

  /// Whether ``next()`` has returned nil at the end of the source.
  var hasEnded: Bool { isAtEnd.load(ordering: .acquiring) }
}

extension SourceName {
  fileprivate var files: [String] {
    switch self {
    case .file(let path): [path]
    case .images(let files): files.map(\.path)
    case .pipe: ["/dev/stdin"]
    case .camera, .network: []
    }
  }

  /// The kind of a source that ffmpeg reads, and whether it is live.
  fileprivate func nature(_ probe: MediaProbe) -> (VideoFacts.Kind, isLive: Bool) {
    switch self {
    case .camera: (.camera, true)
    case .network(_, let scheme): (.network, !scheme.hasPrefix("http") || probe.duration == nil)
    default: (.file, false)
    }
  }
}

extension VideoFacts {
  fileprivate init(_ name: String, _ kind: Kind, isLive: Bool, _ probe: MediaProbe) {
    self.init(
      name: name, kind: kind, width: probe.width, height: probe.height, orientation: probe.orientation,
      framesPerSecond: probe.framesPerSecond, duration: isLive ? nil : probe.duration,
      frameCount: isLive ? nil : probe.frameCount, hasAudio: probe.audioCodec != nil, isLive: isLive,
      codec: probe.codec,
      format: probe.color.format)
  }
}
