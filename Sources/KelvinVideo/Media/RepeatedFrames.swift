import Kelvin
import KelvinBasics

/// The frames of a file or of images, over and over. Numbers and times continue as if the source had no end.
final class RepeatedFrames: FrameReader {
  private let open: () throws(VideoError) -> any FrameReader
  private let cancel: CancelSignal
  private var frames: any FrameReader
  /// Whether the source has given a frame since it was opened.
  private var hasFrames = false
  /// The number and the time of the first frame in this round.
  private var base = (number: 0, time: Duration.zero)
  /// The number and the time that follow the latest frame.
  private var following = (number: 0, time: Duration.zero)
  private var last: Duration?
  /// The part of the frames that is decoded; nil for all.
  private var part: PixelRect?
  /// The time from a frame to the next one.
  private var step: Duration

  /// - Parameters:
  ///   - frames: The frames of the first round.
  ///   - framesPerSecond: The rate of the source; nil if it varies or is unknown.
  ///   - open: Opens the source again.
  init(
    _ frames: any FrameReader, framesPerSecond: Double?, _ cancel: CancelSignal,
    open: @escaping () throws(VideoError) -> any FrameReader
  ) {
    (self.frames, self.cancel, self.open) = (frames, cancel, open)
    step = .limited(seconds: 1 / (framesPerSecond ?? 30))
  }

  func next() throws(VideoError) -> VideoFrame? {
    if let frame = try frames.next() { return continued(frame) }
    guard hasFrames, !cancel.isSet else { return nil }
    frames = try open()
    if let part { _ = frames.decode(only: part) }
    hasFrames = false
    return try frames.next().map(continued)
  }

  func close() { frames.close() }

  func decode(only part: PixelRect) -> Bool {
    guard frames.decode(only: part) else { return false }
    self.part = part
    return true
  }

  private func continued(_ frame: VideoFrame) -> VideoFrame {
    if !hasFrames, following.number > 0 { base = (following.number - frame.number, following.time - frame.time) }
    hasFrames = true
    let (number, time) = (base.number + frame.number, base.time + frame.time)
    if let last, time > last { step = time - last }
    last = time
    following = (number + 1, time + step)
    return VideoFrame(number: number, time: time, image: frame.image, orientation: frame.orientation)
  }
}
