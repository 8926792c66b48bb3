import Glibc
import Kelvin
import KelvinBasics

/// Frames of a YUV4MPEG2 stream. Chroma is averaged over 2 × 2 pixels where the stream has more of it.
package final class Y4MFrames: FrameReader {
  /// Fills memory with the next bytes of a stream: returns their number, or 0 at its end.
  package typealias Input = (UnsafeMutableRawBufferPointer) throws(VideoError) -> Int

  private static let longestLine = 4096

  let facts: VideoFacts
  let remarks = RemarkList()

  private let name: String
  private let header: Y4MHeader
  private let frameTime: TimeBase
  private let pool: FramePool
  private var input: Buffered
  private var chroma: [UInt8]
  private var number = 0
  private var hasEnded = false

  /// - Parameters:
  ///   - input: The stream.
  ///   - rate: The rate for a stream without one.
  ///   - maximumPixels: The largest width times height.
  /// - Throws: ``VideoError`` (`unreadable`, `endedEarly`) with the position of the fault.
  package init(
    _ input: @escaping Input, name: String, rate: Double, maximumPixels: Int = ImageCodec.maximumPixels
  ) throws(VideoError) {
    self.input = Buffered(input)
    self.name = name
    guard let line = try self.input.line(atMost: Self.longestLine) else {
      throw VideoError(
        .unreadable,
        "'\(name)', byte 0: expected '\(Y4MHeader.magic)', the start of a YUV4MPEG2 header of at most "
          + "\(Self.longestLine) bytes")
    }
    header = try Y4MHeader(line, name: name, maximumPixels: maximumPixels)
    frameTime = header.frameTime ?? TimeBase(1_000_000, Int(max(1, min(rate, 2000)) * 1e6)) ?? .microseconds
    pool = FramePool(width: header.width, height: header.height, format: header.format)
    let size = header.chroma.size(header.width, header.height) ?? (0, 0)
    chroma = [UInt8](repeating: 0, count: max(2 * size.width * size.height, header.hasAlpha ? pool.byteCount : 0))
    if header.frameTime == nil {
      remarks.add("the stream has no frame rate; \(HumanReadable.significant(rate)) frames per second are assumed")
    }
    if header.isInterlaced { remarks.add("the video is interlaced; both fields of a frame are used together") }
    facts = VideoFacts(
      name: name, kind: .pipe, width: header.width, height: header.height, orientation: .up,
      framesPerSecond: header.frameTime.map { Double($0.denominator) / Double($0.numerator) }, duration: nil,
      frameCount: nil, hasAudio: false, isLive: false, codec: nil, format: header.format)
  }

  /// The bytes of standard input, which end if the source is cancelled.
  static func standardInput(_ cancel: CancelSignal) -> Input {
    // Reading from a copy of the descriptor: standard input belongs to the process.
    let descriptor = Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10))
    return { (target) throws(VideoError) in
      while !cancel.isSet, cancel.wait(reading: [descriptor]), !cancel.isSet {
        switch descriptor.read(into: target) {
        case .bytes(let count): return count
        case .nothingYet: continue
        case .end: return 0
        }
      }
      return 0
    }
  }

  package func close() { hasEnded = true }

  package func next() throws(VideoError) -> VideoFrame? {
    guard !hasEnded else { return nil }
    do throws(VideoError) {
      guard let frame = try read() else {
        hasEnded = true
        return nil
      }
      return frame
    } catch {
      hasEnded = true
      throw error
    }
  }

  private func read() throws(VideoError) -> VideoFrame? {
    let start = input.offset
    guard let line = try input.line(atMost: Self.longestLine) else {
      guard input.offset > start else { return nil }
      throw VideoError(.unreadable, "'\(name)', byte \(start): expected a line that begins with FRAME")
    }
    guard line.starts(with: "FRAME".utf8), line.count == 5 || line[5] == 0x20 else {
      throw VideoError(.unreadable, "'\(name)', byte \(start): expected a line that begins with FRAME")
    }
    let buffer = try pool.take()
    let bytes = buffer.bytes
    let (width, height) = (header.width, header.height)
    try fill(UnsafeMutableRawBufferPointer(rebasing: bytes[..<(width * height)]))
    let pairs = UnsafeMutableRawBufferPointer(rebasing: bytes[(width * height)...])
    if let size = header.chroma.size(width, height) {
      let count = size.width * size.height
      try fillChroma(2 * count)
      chroma.withUnsafeBufferPointer { chroma in
        let blue = UnsafeBufferPointer(rebasing: chroma[..<count])
        let red = UnsafeBufferPointer(rebasing: chroma[count..<(2 * count)])
        if header.chroma == .subsampled(columns: 2, rows: 2) {
          for pair in 0..<count {
            pairs[2 * pair] = blue[pair]
            pairs[2 * pair + 1] = red[pair]
          }
        } else {
          reduce(blue, red, size, into: pairs)
        }
      }
    } else {
      pairs.initializeMemory(as: UInt8.self, repeating: 128)
    }
    if header.hasAlpha { try fillChroma(width * height) }
    defer { number += 1 }
    return VideoFrame(number: number, time: frameTime.time(Int64(number)), image: try buffer.image())
  }

  /// Averages planes of chroma over blocks of 2 × 2 pixels.
  private func reduce(
    _ blue: UnsafeBufferPointer<UInt8>, _ red: UnsafeBufferPointer<UInt8>, _ size: (width: Int, height: Int),
    into pairs: UnsafeMutableRawBufferPointer
  ) {
    guard case .subsampled(let columns, let rows) = header.chroma else { return }
    let (wide, high) = ((header.width + 1) / 2, (header.height + 1) / 2)
    for y in 0..<high {
      let top = min(2 * y / rows, size.height - 1) * size.width
      let bottom = min((2 * y + 1) / rows, size.height - 1) * size.width
      for x in 0..<wide {
        let left = min(2 * x / columns, size.width - 1)
        let right = min((2 * x + 1) / columns, size.width - 1)
        func mean(_ plane: UnsafeBufferPointer<UInt8>) -> UInt8 {
          let sum =
            Int(plane[top + left]) + Int(plane[top + right]) + Int(plane[bottom + left]) + Int(plane[bottom + right])
          return UInt8((sum + 2) / 4)
        }
        pairs[2 * (y * wide + x)] = mean(blue)
        pairs[2 * (y * wide + x) + 1] = mean(red)
      }
    }
  }

  private func fillChroma(_ count: Int) throws(VideoError) {
    try chroma.withUnsafeMutableBufferPointer { (bytes) throws(VideoError) in
      try fill(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: bytes[..<count])))
    }
  }

  private func fill(_ target: UnsafeMutableRawBufferPointer) throws(VideoError) {
    guard try input.fill(target) else {
      throw VideoError(.endedEarly, "'\(name)', byte \(input.offset): the stream ends in frame \(number)")
    }
  }
}

/// Bytes of a stream, of which some are read ahead.
private struct Buffered {
  private let input: Y4MFrames.Input
  private var ahead = [UInt8](repeating: 0, count: 4096)
  private var available = 0..<0
  /// The number of bytes that were used.
  private(set) var offset = 0

  init(_ input: @escaping Y4MFrames.Input) { self.input = input }

  /// Returns the next line without its end; nil at the end of the stream, or if the line is longer than `count` bytes.
  mutating func line(atMost count: Int) throws(VideoError) -> [UInt8]? {
    var line: [UInt8] = []
    while line.count <= count {
      if available.isEmpty {
        let read = try ahead.withUnsafeMutableBufferPointer { (bytes) throws(VideoError) in
          try input(UnsafeMutableRawBufferPointer(bytes))
        }
        guard read > 0 else { return nil }
        available = 0..<read
      }
      let byte = ahead[available.lowerBound]
      available.removeFirst()
      offset += 1
      if byte == 0x0A { return line }
      line.append(byte)
    }
    return nil
  }

  /// Fills memory; returns false if the stream ends before.
  mutating func fill(_ target: UnsafeMutableRawBufferPointer) throws(VideoError) -> Bool {
    var count = min(available.count, target.count)
    ahead.withUnsafeBytes { target.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[available.prefix(count)])) }
    available.removeFirst(count)
    offset += count
    while count < target.count {
      let more = try input(UnsafeMutableRawBufferPointer(rebasing: target[count...]))
      guard more > 0 else { return false }
      count += more
      offset += more
    }
    return true
  }
}
