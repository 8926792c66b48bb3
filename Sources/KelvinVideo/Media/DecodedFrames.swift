import Glibc
import Kelvin
import KelvinBasics

/// Frames that a child ffmpeg decodes.
///
/// The pixels come through one pipe into page-aligned memory. A filter writes the timestamps to another pipe.
final class DecodedFrames: FrameReader {
  /// The largest number of bytes of times that wait for their frames.
  private static let mostTimes = 1 << 20

  private let name: String
  private let probe: MediaProbe
  private let isLive: Bool
  private let canEnd: Bool
  private let timeout: Duration?
  /// The options that open the source.
  private let input: [String]
  private let cancel: CancelSignal
  private let remarks: RemarkList
  private var pool: FramePool
  /// The part of the frames that is decoded; nil for all.
  private var part: PixelRect?

  private var child: Child?
  private var hasEnded = false
  private var number = 0
  private var lastTime: Duration?
  /// The time that is added to those of the source, after they have begun again.
  private var shift = Duration.zero

  /// A running ffmpeg with its pipes.
  private struct Child {
    let process: MediaProcess
    let video: Descriptor
    let times: Descriptor
    let errors: Descriptor
    var messages = MediaMessages()
    /// Times whose frames were not read yet.
    var lines: ArraySlice<UInt8> = []
    var isOpen = (times: true, errors: true)

    /// The descriptors to wait for.
    func awaited(video isVideoAwaited: Bool) -> [Descriptor] {
      (isVideoAwaited ? [video] : []) + (isOpen.times && lines.count < mostTimes ? [times] : [])
        + (isOpen.errors ? [errors] : [])
    }

    /// Takes what is there, without waiting.
    mutating func drain() {
      if isOpen.errors { isOpen.errors = messages.read(from: errors) }
      var piece = [UInt8](repeating: 0, count: 4096)
      while isOpen.times, lines.count < mostTimes {
        switch piece.withUnsafeMutableBytes({ times.read(into: $0) }) {
        case .bytes(let count): lines += piece.prefix(count)
        case .nothingYet: return
        case .end: isOpen.times = false
        }
      }
    }

    /// Removes and returns the first line with a time; nil if none is complete.
    mutating func popTime() -> FrameTimeLine? {
      while let end = lines.firstIndex(of: 0x0A) {
        let line = FrameTimeLine(lines[..<end])
        lines = lines[(end + 1)...]
        if let line { return line }
      }
      return nil
    }
  }

  /// - Parameters:
  ///   - input: The options that open the source.
  ///   - name: The name of the source in errors.
  ///   - canEnd: Whether an end of the source is not an error.
  ///   - timeout: The longest time without new data; nil for no limit.
  init(
    _ input: [String], _ probe: MediaProbe, name: String, isLive: Bool, canEnd: Bool, timeout: Duration?,
    _ cancel: CancelSignal, _ remarks: RemarkList
  ) {
    (self.name, self.probe, self.isLive, self.canEnd, self.timeout) = (name, probe, isLive, canEnd, timeout)
    (self.input, self.cancel, self.remarks) = (input, cancel, remarks)
    pool = FramePool(width: probe.width, height: probe.height, format: probe.color.format)
  }

  private var arguments: [String] {
    let base = probe.timeBase
    // The text of a filter is unescaped twice. `metadata` prints frames that have its key only.
    let filters = [
      "settb=expr=\(base.numerator)/\(base.denominator)", "metadata=mode=add:key=kelvin:value=1",
      #"metadata=mode=print:key=kelvin:direct=1:file=pipe\\:3"#,
      probe.color.filters(width: probe.width, height: probe.height),
    ]
    // Cut after the conversion, the numbers are those of whole frames, also where the size or the format changes.
    let cut = part.map { ["crop=w=\($0.width):h=\($0.height):x=\($0.x):y=\($0.y):exact=1"] } ?? []
    return MediaTool.ffmpeg.quietly + ["-noautorotate", "-copyts"] + input
      + ["-map", "0:\(probe.stream)", "-filter:v", (filters + cut).joined(separator: ",")] + probe.version.keepingFrames
      + [
        "-enc_time_base", "\(base.numerator):\(base.denominator)", "-flush_packets", "1", "-c:v", "rawvideo",
        "-pix_fmt", "nv12", "-f", "rawvideo", "pipe:1",
      ]
  }

  func close() {
    hasEnded = true
    child?.process.kill()
    child = nil
  }

  func decode(only part: PixelRect) -> Bool {
    guard child == nil, !hasEnded else { return false }
    self.part = part
    pool = FramePool(width: part.width, height: part.height, format: probe.color.format)
    return true
  }

  func next() throws(VideoError) -> VideoFrame? {
    guard !hasEnded, !cancel.isSet else {
      close()
      return nil
    }
    do throws(VideoError) {
      if child == nil { child = try start() }
      if let frame = try read() { return frame }
      close()
      return nil
    } catch {
      close()
      throw error
    }
  }

  private func start() throws(VideoError) -> Child {
    let bytes = Int32(clamping: min(max(pool.byteCount, 1 << 16), 1 << 20))
    guard let video = Descriptor.pipe(bytes: bytes), let times = Descriptor.pipe(), let errors = Descriptor.pipe()
    else { throw VideoError(.toolFailed, "'\(name)': there are no descriptors for a pipe to ffmpeg") }
    let process = try MediaProcess(
      .ffmpeg, arguments, streams: [(video.writing, 1), (errors.writing, 2), (times.writing, 3)])
    return Child(process: process, video: video.reading, times: times.reading, errors: errors.reading)
  }

  /// Reads a frame and its time; nil at the end or if the source is cancelled.
  private func read() throws(VideoError) -> VideoFrame? {
    let buffer = try pool.take()
    let bytes = buffer.bytes
    var count = 0
    while count < bytes.count {
      guard let child else { return nil }
      switch child.video.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[count...])) {
      case .bytes(let more): count += more
      case .nothingYet: guard try wait(forVideo: true) else { return nil }
      case .end:
        try end(inFrame: count > 0)
        return nil
      }
    }
    guard let line = try time() else { return nil }
    if line.index == 0, number > 0 {
      remarks.add(
        "the size or the format of the video changes at frame \(number); its frames are scaled to \(probe.width) x "
          + "\(probe.height)")
    }
    let time = line.timestamp.map { continued(probe.timeBase.time($0)) } ?? guessedTime()
    defer { (number, lastTime) = (number + 1, time) }
    var image = try buffer.image()
    if let part { image = PixelBuffer(image, x: part.x, y: part.y, width: probe.width, height: probe.height) }
    return VideoFrame(number: number, time: time, image: image, orientation: probe.orientation)
  }

  private func guessedTime() -> Duration {
    remarks.add("the video has frames without a time; their times follow from the frame rate")
    return lastTime.map { $0 + frameTime } ?? .zero
  }

  private var frameTime: Duration { .limited(seconds: 1 / (probe.framesPerSecond ?? 25)) }

  /// Returns the time of a frame, which goes on where the times of the source begin again, as in joined files.
  private func continued(_ time: Duration) -> Duration {
    guard let lastTime, time + shift + .seconds(1) < lastTime else { return time + shift }
    remarks.add(
      "the times of the video begin again at frame \(number); they are continued after "
        + "\(HumanReadable.fixed(lastTime.inSeconds, decimals: 2)) s")
    shift = lastTime + frameTime - time
    return lastTime + frameTime
  }

  /// Returns the time of a frame that was read.
  private func time() throws(VideoError) -> FrameTimeLine? {
    while true {
      child?.drain()
      if let line = child?.popTime() { return line }
      guard let child, child.isOpen.times, child.lines.count < Self.mostTimes else {
        throw VideoError(.toolFailed, "'\(name)': ffmpeg gave frame \(number) without its time")
      }
      guard try wait(forVideo: false) else { return nil }
    }
  }

  /// Waits until the child has written something.
  ///
  /// - Returns: false if the source is cancelled.
  private func wait(forVideo: Bool) throws(VideoError) -> Bool {
    let deadline = timeout.map { ContinuousClock.now + $0 }
    while let child {
      guard cancel.wait(reading: child.awaited(video: forVideo), until: deadline) else {
        throw VideoError(
          .silent,
          "'\(name)' sent nothing for \(HumanReadable.seconds(timeout?.inSeconds))\(position)"
            + child.messages.quoted)
      }
      if cancel.isSet { return false }
      self.child?.drain()
      var entry = pollfd(fd: child.video.value, events: Int16(POLLIN), revents: 0)
      if !forVideo || poll(&entry, 1, 0) > 0 { return true }
    }
    return false
  }

  /// The words for the place in the source.
  private var position: String {
    guard let lastTime else { return " before its first frame" }
    return " after frame \(number - 1) (\(HumanReadable.fixed(lastTime.inSeconds, decimals: 2)) s)"
  }

  /// Judges the end of the video.
  ///
  /// - Parameter inFrame: Whether the last frame is not complete.
  private func end(inFrame: Bool) throws(VideoError) {
    guard var child else { return }
    while child.isOpen.errors, cancel.wait(reading: [child.errors]), !cancel.isSet { child.drain() }
    guard !cancel.isSet else { return }
    let ending = child.process.wait()
    let quoted = child.messages.quoted
    self.child = nil
    switch ending {
    case .signal, .unknown:
      throw VideoError(.toolFailed, "'\(name)': ffmpeg \(ending.description)\(position)\(quoted)")
    case .status(let code):
      guard number > 0 else {
        throw VideoError(.unreadable, "'\(name)': no frame can be decoded\(quoted)")
      }
      if !canEnd {
        // ffmpeg ends without an error when the sender closes the connection. Its messages are then about other things.
        throw VideoError(
          .endedEarly, "'\(name)' ended\(position)\(code == 0 ? ": the sender closed the stream" : quoted)")
      }
      if isShort || inFrame || code != 0, !child.messages.isEmpty {
        let all = probe.frameCount.map { " of \($0)" } ?? ""
        throw VideoError(
          .endedEarly,
          "'\(name)' is damaged or cut short: it ends after \(number)\(all) frames "
            + "(\(HumanReadable.fixed((lastTime ?? .zero).inSeconds, decimals: 2)) s)\(quoted)")
      }
      if !child.messages.isEmpty {
        let count = child.messages.count
        remarks.add(
          "the video is damaged: ffmpeg reports \(count) error\(count == 1 ? "" : "s"), the last one\(quoted)")
      }
    }
  }

  /// Whether the source has fewer frames than it declares, or ends before its duration.
  private var isShort: Bool {
    if let frameCount = probe.frameCount { return number < frameCount }
    guard let duration = probe.duration, let lastTime else { return false }
    return lastTime + .seconds(1) < duration + (probe.start ?? .zero)
  }
}
