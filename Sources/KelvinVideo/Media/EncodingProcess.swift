import Glibc
import Kelvin
import KelvinBasics
import Synchronization

/// The raw frames that an encoder reads.
struct EncodingInput: Sendable {
  let layout: MatroskaStream.Layout
  let format: PixelFormat
  let width: Int
  let height: Int
  private let frameTime: UInt64?

  /// - Parameter format: The format of the first frame.
  init(_ format: PixelFormat, width: Int, height: Int, framesPerSecond: Double?) {
    layout = format.planeCount == 2 ? .biplanar : .rgb
    self.format = format.planeCount == 2 ? format : .rgb8
    (self.width, self.height) = (width, height)
    frameTime = framesPerSecond.flatMap { $0 > 0.001 && $0 < 1e6 ? UInt64((1e9 / $0).rounded()) : nil }
  }

  var header: [UInt8] { MatroskaStream.header(width: width, height: height, layout: layout, frameTime: frameTime) }

  /// The options that convert frames to 4:2:0 and declare their colours. Red, green and blue become Rec. 709.
  func filters(odd: (width: Int, height: Int)) -> [String] {
    let (matrix, range, space) =
      switch format {
      case .yCbCr601Full: ("bt601", "pc", "smpte170m")
      case .yCbCr601Video: ("bt601", "tv", "smpte170m")
      case .yCbCr709Full: ("bt709", "pc", "bt709")
      default: ("bt709", "tv", "bt709")
      }
    let source = layout == .biplanar ? "in_color_matrix=\(matrix):in_range=\(range):" : ""
    let padding = odd == (0, 0) ? "" : "pad=w=iw+\(odd.width):h=ih+\(odd.height),"
    return [
      "-filter:v", "\(padding)scale=\(source)out_color_matrix=\(matrix):out_range=\(range),format=pix_fmts=yuv420p",
      "-colorspace", space, "-color_primaries", space, "-color_trc", space, "-color_range", range,
    ]
  }
}

/// A child ffmpeg that encodes raw frames.
final class EncodingProcess: Sendable {
  private let input: EncodingInput
  private let process: MediaProcess
  private let frames: Descriptor
  private let errors: Descriptor
  private let cancel: CancelSignal
  private let log = Mutex((messages: MediaMessages(), isOpen: true))

  /// - Parameter options: The options of the output, and its name.
  init(_ input: EncodingInput, _ options: [String], _ cancel: CancelSignal) throws(VideoError) {
    guard let sockets = Descriptor.sockets(), let errors = Descriptor.pipe() else {
      throw VideoError(.toolFailed, "there are no descriptors for a pipe to ffmpeg")
    }
    (self.input, self.cancel, frames, self.errors) = (input, cancel, sockets.own, errors.reading)
    process = try MediaProcess(
      .ffmpeg, MediaTool.ffmpeg.quietly + ["-copyts", "-f", "matroska", "-i", "pipe:0", "-map", "0:v:0"] + options,
      streams: [(sockets.other, 0), (errors.writing, 2)])
    sockets.other.close()
    errors.writing.close()
    _ = input.header.withUnsafeBytes { send($0) }
  }

  /// The messages so far.
  var messages: MediaMessages { log.withLock { $0.messages } }

  /// Sends a frame.
  ///
  /// - Parameter time: at least 0.
  /// - Returns: false if the encoder has ended, or if the writer was cancelled.
  func write(_ image: PixelBuffer, time: Duration) throws(VideoError) -> Bool {
    let image = try converted(image)
    let sizes = input.format.planes(width: input.width, height: input.height)
    let head = MatroskaStream.frameHeader(
      time: UInt64(max(0, (time / .nanoseconds(1)).rounded())),
      byteCount: sizes.reduce(0) { $0 + $1.rowBytes * $1.rows })
    guard head.withUnsafeBytes({ send($0) }) else { return false }
    guard let planes = image.borrowedPlanes else { return image.bytes.withUnsafeBytes { send($0) } }
    return withExtendedLifetime(image) {
      zip(planes, sizes).allSatisfy { plane, size in
        guard plane.bytesPerRow != size.rowBytes else {
          return send(UnsafeRawBufferPointer(start: plane.base, count: size.rowBytes * size.rows))
        }
        return (0..<size.rows).allSatisfy { row in
          send(UnsafeRawBufferPointer(start: plane.base + row * plane.bytesPerRow, count: size.rowBytes))
        }
      }
    }
  }

  private func converted(_ image: PixelBuffer) throws(VideoError) -> PixelBuffer {
    guard image.format != input.format else { return image }
    guard input.layout == .rgb else { return try YCbCrImage(image, input.format).pixels }
    return image.inRGB
  }

  /// Tells the encoder that there are no more frames.
  func endInput() { shutdown(frames.value, Int32(SHUT_WR)) }

  /// Waits for the end of the encoder.
  ///
  /// - Returns: Whether the file is complete.
  func hasSucceeded() -> Bool {
    frames.close()
    while log.withLock({ $0.isOpen }), cancel.wait(reading: [errors]), !cancel.isSet { drain() }
    if cancel.isSet { process.kill() }
    return process.wait() == .status(0)
  }

  /// The way in which the encoder ended; waits for it.
  var ending: MediaProcess.Ending { process.wait() }

  private func drain() { log.withLock { log in if log.isOpen { log.isOpen = log.messages.read(from: errors) } } }

  private func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
      let count = Glibc.send(frames.value, rest.baseAddress, rest.count, flags)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno == EAGAIN {
        let isOpen = log.withLock { $0.isOpen }
        _ = cancel.wait(reading: isOpen ? [errors] : [], writing: frames)
        if cancel.isSet { return false }
        drain()
      } else if errno != EINTR {
        return false
      }
    }
    return true
  }
}
