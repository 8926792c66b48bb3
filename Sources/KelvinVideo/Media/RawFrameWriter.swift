import Glibc
public import Kelvin
import KelvinBasics
import Synchronization

/// Writes frames as YUV4MPEG2, so that another program can show or encode them: `kelvin stream … --save - | ffplay -`.
///
/// Colours are by Rec. 601 in the range of video, and chroma is the mean of 2 × 2 pixels.
public final class RawFrameWriter: Sendable {
  private let descriptor: Int32
  private let width: Int
  private let height: Int
  private let state: Mutex<State>

  private struct State {
    /// The header before the first frame; nil after it.
    var header: String?
    var isOpen = true
  }

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - descriptor: An open descriptor, which stays open; 1 for standard output.
  ///   - width: The width of the frames in pixels.
  ///   - height: The height of the frames in pixels.
  ///   - framesPerSecond: The rate; nil, and a rate below 0.001, for 25 frames per second.
  /// - Throws: ``VideoError`` (`request`) for a size without pixels.
  public init(
    to descriptor: Int32, width: Int, height: Int, framesPerSecond: Double?
  ) throws(VideoError) {
    guard width > 0, height > 0, width <= ImageCodec.maximumPixels / height else {
      throw VideoError(.request, "\(width) x \(height) is not the size of a video")
    }
    (self.descriptor, self.width, self.height) = (descriptor, width, height)
    let rate = Self.fraction(framesPerSecond.flatMap { $0 >= 0.001 && $0 <= 100_000 ? $0 : nil } ?? 25)
    state = Mutex(
      State(
        header: "YUV4MPEG2 W\(width) H\(height) F\(rate.over):\(rate.under) Ip A1:1 C420jpeg XCOLORRANGE=LIMITED\n"))
  }

  /// Returns a rate as a fraction. Television's rates are 1000/1001 of whole numbers.
  private static func fraction(_ rate: Double) -> (over: Int, under: Int) {
    for under in [1, 1001] {
      let over = (rate * Double(under)).rounded()
      if abs(over / Double(under) - rate) < 1e-6 * rate { return (Int(over), under) }
    }
    return (Int((rate * 10_000).rounded()), 10_000)
  }

  /// Writes a frame, and waits until the reader takes it.
  ///
  /// - Parameter image: The frame, upright. An image of another size is scaled.
  /// - Returns: false if the reader has closed the stream. Nothing is written then, now and later.
  /// - Throws: ``VideoError``: `noSpace`, `io`.
  public func write(_ image: PixelBuffer) throws(VideoError) -> Bool {
    try state.withLock { (state) throws(VideoError) in
      guard state.isOpen else { return false }
      let head = Array(((state.header ?? "") + "FRAME\n").utf8)
      let planar = try planes(of: image)
      state.header = nil
      do throws(FileError) {
        state.isOpen = try put(head)
        if state.isOpen { state.isOpen = try put(planar) }
      } catch {
        state.isOpen = false
        throw VideoError(writing: error)
      }
      return state.isOpen
    }
  }

  /// The three planes of an image.
  private func planes(of image: PixelBuffer) throws(VideoError) -> [UInt8] {
    var image = image
    if image.width != width || image.height != height {
      do throws(ImageError) { image = try image.reduced(width: width, height: height) } catch {
        throw VideoError(.request, error.description)
      }
    }
    let pairs = image.format == .yCbCr601Video ? image.bytes : YCbCrImage(image, .yCbCr601Video).bytes
    let luma = width * height
    let count = (pairs.count - luma) / 2
    return [UInt8](unsafeUninitializedCapacity: pairs.count) { target, initialized in
      pairs.withUnsafeBufferPointer { pairs in
        for pixel in 0..<luma { target.initializeElement(at: pixel, to: pairs[pixel]) }
        for pair in 0..<count {
          target.initializeElement(at: luma + pair, to: pairs[luma + 2 * pair])
          target.initializeElement(at: luma + count + pair, to: pairs[luma + 2 * pair + 1])
        }
      }
      initialized = pairs.count
    }
  }

  /// - Returns: false if the reader has closed the stream.
  private func put(_ bytes: [UInt8]) throws(FileError) -> Bool {
    // Without this, writing to a closed pipe ends the process by its default action.
    var (pipe, earlier) = (sigset_t(), sigset_t())
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, &earlier)
    defer { pthread_sigmask(SIG_SETMASK, &earlier, nil) }
    var offset = 0
    while offset < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.write(descriptor, $0.baseAddress.map { $0 + offset }, bytes.count - offset)
      }
      if count > 0 {
        offset += count
        continue
      }
      let code = count == 0 ? ENOSPC : errno
      switch code {
      case EINTR: continue
      case EAGAIN:
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&entry, 1, -1)
      case EPIPE:
        // The signal that waits for this thread is taken away.
        var (pending, number) = (sigset_t(), Int32(0))
        sigpending(&pending)
        if sigismember(&earlier, SIGPIPE) == 0, sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipe, &number) }
        return false
      default: throw FileError(path: "standard output", action: "write", code: code)
      }
    }
    return true
  }
}
