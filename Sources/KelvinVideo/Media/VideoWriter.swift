import Glibc
public import Kelvin
import KelvinBasics
import Synchronization

/// Writes a video file from frames with times, with the sound of the original.
///
/// A child ffmpeg encodes. While it works, the frames are in a file beside the result, with `.partial` before the
/// extension, that can be played wherever it ends. ``finish()`` makes it a plain file with the name of the result, and
/// only then replaces an existing file. After a failure, the frames so far stay in the partial file, which gets the name
/// of the result if there is no file of this name.
///
/// ```swift
/// let source = try VideoSource("bottles.mp4")
/// let facts = source.facts
/// let writer = try VideoWriter(
///   to: "drawn.mp4", width: facts.uprightWidth, height: facts.uprightHeight, framesPerSecond: facts.framesPerSecond,
///   audioFrom: source)
/// while let frame = try source.next() { try writer.write(frame.image, time: frame.time) }
/// try writer.finish()
/// ```
public final class VideoWriter: Sendable {
  /// The path of the result.
  public let path: String
  private let width: Int
  private let height: Int
  private let framesPerSecond: Double?
  private let format: VideoFormat
  private let encoder: VideoEncoder
  private let version: MediaVersion
  private let timeBase: TimeBase
  private let audio: VideoSource?
  private let partial: PartialFile
  private let notes = RemarkList()
  private let cancellation = CancelSignal()
  private let state: Mutex<State>

  private struct State {
    var encoding: EncodingProcess?
    var frameCount = 0
    /// The time that becomes 0.
    var origin = Duration.zero
    /// The timestamp of the last frame.
    var lastTicks: Int64 = -1
    var failure: VideoError?
    var hasEnded = false
  }

  /// Creates a writer. The file begins with the first frame.
  ///
  /// - Parameters:
  ///   - path: The path of the result, with the extension `mp4`, `mov`, `m4v`, `mkv` or `webm`.
  ///   - width: The width of the frames in pixels. An odd width gets another, black column.
  ///   - height: The height of the frames in pixels. An odd height gets another, black row.
  ///   - framesPerSecond: The constant rate; nil for a variable rate.
  ///   - source: The source of the frames. If it is a file, its first sound track is copied, and times keep their
  ///     distance from it; nil for a file without sound.
  /// - Throws: ``VideoError``: `request` for another extension or a size without pixels; `toolMissing`, `toolFailed`;
  ///   `noSpace` and `io` if the file cannot be created.
  public init(
    to path: String, width: Int, height: Int, framesPerSecond: Double?, audioFrom source: VideoSource? = nil
  ) throws(VideoError) {
    guard width > 0, height > 0, width <= ImageCodec.maximumPixels / height else {
      throw VideoError(.request, "'\(path)': \(width) x \(height) is not the size of a video")
    }
    format = try VideoFormat(path: path)
    (encoder, version) = try VideoEncoder.first(of: format.encoders)
    (self.path, self.width, self.height, self.framesPerSecond) = (path, width, height, framesPerSecond)
    timeBase = encoder.timeBase(source?.original?.probe.timeBase ?? TimeBase(framesPerSecond: framesPerSecond))
    audio = source
    partial = try PartialFile(for: path)
    state = Mutex(State())
  }

  deinit { if state.withLock({ !$0.hasEnded }) { cancel() } }

  /// Notes about the file, one line each.
  public var remarks: [String] { notes.all }

  /// The path of the file that has the frames until ``finish()``.
  public var partialPath: String { partial.path }

  /// The number of frames so far. Without a frame there is no file.
  public var frameCount: Int { state.withLock { $0.frameCount } }

  /// Adds a frame, and waits until the encoder has room for it.
  ///
  /// - Parameters:
  ///   - image: The frame, upright. An image of another size is scaled. The format of the first frame decides how the
  ///     frames travel: with two planes without a conversion, else as red, green and blue.
  ///   - time: The time in the clock of the source. Times must increase; a time that does not becomes the next one.
  /// - Throws: ``VideoError``: `toolFailed`, `noSpace`, `io`, with the number of frames that were saved. Later calls
  ///   throw the same.
  public func write(_ image: PixelBuffer, time: Duration) throws(VideoError) {
    try state.withLock { (state) throws(VideoError) in
      if let failure = state.failure { throw failure }
      guard !state.hasEnded, !cancellation.isSet else { return }
      let encoding: EncodingProcess
      if let running = state.encoding {
        encoding = running
      } else {
        encoding = try begin(image.format, at: time, &state)
      }
      state.encoding = encoding
      var ticks = timeBase.ticks(time - state.origin)
      if ticks <= state.lastTicks {
        notes.add("frame \(state.frameCount) is not later than the one before it; it is shown right after it")
        ticks = state.lastTicks + 1
      }
      do throws(VideoError) {
        if try encoding.write(fitted(image), time: timeBase.time(ticks)) {
          (state.frameCount, state.lastTicks) = (state.frameCount + 1, ticks)
          return
        }
      } catch { throw fail(error, &state) }
      // The encoder has ended, or the writer was cancelled.
      guard !cancellation.isSet else { return }
      throw fail(failure(encoding), &state)
    }
  }

  /// Completes the file and gives it its name. A source that has not ended, as after an interrupt, gives a shorter file.
  /// Without a frame there is no file.
  ///
  /// - Throws: ``VideoError`` as ``write(_:time:)``.
  public func finish() throws(VideoError) {
    try state.withLock { (state) throws(VideoError) in
      if let failure = state.failure { throw failure }
      guard !state.hasEnded, !cancellation.isSet else { return }
      guard let encoding = state.encoding else {
        state.hasEnded = true
        partial.remove()
        notes.add("'\(path)' is not written, because there is no frame")
        return
      }
      encoding.endInput()
      guard encoding.hasSucceeded() else {
        guard !cancellation.isSet else { return }
        throw fail(failure(encoding), &state)
      }
      do throws(VideoError) { try complete(state) } catch { throw fail(error, &state) }
      state.hasEnded = true
      state.encoding = nil
    }
  }

  /// Ends the writer from any thread and removes the frames so far. An existing file stays as it is.
  public func cancel() {
    cancellation.set()
    state.withLock { state in
      guard state.failure == nil, !state.hasEnded else { return }
      state.hasEnded = true
      state.encoding = nil
      partial.remove()
    }
  }

  // MARK: Steps

  private func begin(_ format: PixelFormat, at time: Duration, _ state: inout State) throws(VideoError)
    -> EncodingProcess
  {
    // Sound and frames of a file have one clock. Without sound the first frame is at 0.
    let start = audio?.original?.probe.start
    state.origin = audio?.facts.hasAudio == true ? min(start ?? time, time) : time
    let input = EncodingInput(format, width: width, height: height, framesPerSecond: framesPerSecond)
    let options =
      input.filters(odd: (width % 2, height % 2)) + encoder.options(width: width, height: height)
      + version.keepingFrames
      + ["-enc_time_base", "\(timeBase.numerator):\(timeBase.denominator)"] + self.format.whileWriting(timeBase)
    do throws(VideoError) {
      return try EncodingProcess(input, options + ["-y", "file:\(partial.path)"], cancellation)
    } catch {
      state.hasEnded = true
      partial.remove()
      throw error
    }
  }

  private func fitted(_ image: PixelBuffer) throws(VideoError) -> PixelBuffer {
    guard image.width != width || image.height != height else { return image }
    notes.add("frames of \(image.width) x \(image.height) pixels are scaled to \(width) x \(height)")
    do throws(ImageError) { return try image.reduced(width: width, height: height) } catch {
      throw VideoError(.request, error.description)
    }
  }

  private func failure(_ encoding: EncodingProcess) -> VideoError {
    _ = encoding.hasSucceeded()
    let messages = encoding.messages
    return VideoError(
      messages.saysNoSpace ? .noSpace : .toolFailed,
      "'\(path)' is not complete: ffmpeg \(encoding.ending.description)\(messages.quoted)")
  }

  /// Keeps what the partial file has, and returns the error with the number of its frames.
  private func fail(_ error: VideoError, _ state: inout State) -> VideoError {
    state.encoding = nil
    state.hasEnded = true
    let saved = partial.frameCount()
    let place = saved > 0 ? partial.keep() : nil
    if place == nil { partial.remove() }
    let words =
      place.map { "; the first \(saved) of \(state.frameCount) frames are in '\($0)'" } ?? "; no frame was saved"
    let failure = VideoError(error.code, error.description + words)
    state.failure = failure
    return failure
  }

  /// Turns the partial file into the result.
  private func complete(_ state: State) throws(VideoError) {
    let other = partial.sibling("complete")
    var inputs = ["-copyts", "-i", "file:\(partial.path)"]
    var streams = ["-map", "0:v:0", "-c:v", "copy"]
    if let audio, let (path, probe) = audio.original, let codec = probe.audioCodec {
      inputs += ["-itsoffset", "\(HumanReadable.fixed(-state.origin.inSeconds, decimals: 6))".asciiMinus]
      if !audio.hasEnded {
        let last = timeBase.time(state.lastTicks) + .limited(seconds: 1 / (framesPerSecond ?? 25))
        inputs += ["-t", HumanReadable.fixed(max(last.inSeconds, 0.001), decimals: 6)]
      }
      inputs += ["-protocol_whitelist", "file,pipe", "-i", "file:\(path)"]
      streams += ["-map", "1:a:0"] + format.sound(codec: codec)
    }
    let run = try MediaRun(
      .ffmpeg, inputs + streams + format.whenComplete(timeBase) + ["-y", "file:\(other)"], timeout: nil,
      cancel: cancellation)
    if run.isSuccess {
      try partial.replace(path, by: other)
    } else {
      unlink(other.pathBytes)
      guard !cancellation.isSet else { return }
      notes.add(
        "the file stays in fragments\(audio?.facts.hasAudio == true ? " and without sound" : "")\(run.messages.quoted)")
      try partial.replace(path, by: partial.path)
    }
  }
}

extension String {
  /// The string with the hyphen that programs take for a minus.
  fileprivate var asciiMinus: String { replacing("−", with: "-") }
}
