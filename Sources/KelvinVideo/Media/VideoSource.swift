import KelvinBasics
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
    let frames: any FrameReader
    var original: (String, MediaProbe)?
    switch source {
    case .images(let files):
      let images = try ImageFrames(files, name: shown, rate: options.imagesPerSecond, cancellation)
      (frames, facts, notes) = (images, images.facts, images.remarks)
    case .pipe:
      let input = Y4MFrames.standardInput(cancellation)
      let video = try Y4MFrames(input, name: "standard input", rate: options.imagesPerSecond)
      (frames, facts, notes) = (video, video.facts, video.remarks)
    case .file, .camera, .network:
      let probe = try MediaProbe(source.input(options, nil), name: shown, timeout: options.timeout)
      let (kind, isLive) = source.nature(probe)
      facts = VideoFacts(shown, kind, isLive: isLive, probe)
      notes = RemarkList(probe.remarks)
      frames = DecodedFrames(
        source.input(options, probe.version), probe, name: shown, isLive: isLive, canEnd: !isLive,
        timeout: kind == .file ? nil : options.timeout, cancellation, notes)
      if case .file(let path) = source { original = (path, probe) }
    }
    self.original = original
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

  /// Notes about the source so far, one line each: a changed size, damaged frames, an unusual rotation.
  public var remarks: [String] { notes.all }

  /// Whether ``next()`` has returned nil at the end of the source.
  var hasEnded: Bool { isAtEnd.load(ordering: .acquiring) }
}

extension SourceName {
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
