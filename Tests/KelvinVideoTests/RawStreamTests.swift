import Glibc
import Kelvin
import KelvinVideo
import TestSupport
import Testing

/// YUV4MPEG2, read and written.
struct RawStreamTests {
  private let folder = TemporaryFolder()

  /// Opens a stream in memory, of which every read returns at most some bytes.
  private func open(_ bytes: [UInt8], step: Int = .max) throws(VideoError) -> Y4MFrames {
    var rest = bytes[...]
    return try Y4MFrames(
      { target in
        let count = min(step, target.count, rest.count)
        target.copyBytes(from: rest.prefix(count))
        rest = rest.dropFirst(count)
        return count
      }, name: "stream", rate: 30, maximumPixels: 10_000)
  }

  private func frames(_ bytes: [UInt8], step: Int = .max) throws(VideoError) -> [VideoFrame] {
    let stream = try open(bytes, step: step)
    var frames: [VideoFrame] = []
    while let frame = try stream.next() { frames.append(frame) }
    return frames
  }

  @Test(arguments: [1, 7, 4096])
  func planesOf420AreInterleaved(step: Int) throws {
    // 3 x 2 pixels: six of luma, two of each chroma.
    let stream =
      Array("YUV4MPEG2 W3 H2 F30000:1001 Ip A1:1 C420mpeg2 XYSCSS=420MPEG2\nFRAME\n".utf8)
      + [1, 2, 3, 4, 5, 6, 10, 11, 20, 21] + Array("FRAME Ip\n".utf8) + [6, 5, 4, 3, 2, 1, 30, 31, 40, 41]
    let found = try frames(stream, step: step)
    #expect(found.map(\.image.bytes) == [[1, 2, 3, 4, 5, 6, 10, 20, 11, 21], [6, 5, 4, 3, 2, 1, 30, 40, 31, 41]])
    #expect(found.map(\.number) == [0, 1] && found[0].time == .zero && found[0].image.format == .yCbCr601Video)
    let expected = Duration(secondsComponent: 0, attosecondsComponent: 33_366_666_666_666_667)
    #expect(found[1].time == expected)
  }

  @Test(
    arguments: [
      ("C422", [10, 20, 30, 40], [20, 20]), ("C444", [10, 20, 30, 40], [25, 25]), ("Cmono", [], [128, 128]),
      ("C411", [10, 20], [15, 15]), ("C420", [10], [10, 10]),
    ] as [(String, [UInt8], [UInt8])])
  func chromaIsTheMeanOfFourPixels(layout: String, plane: [UInt8], pair: [UInt8]) throws {
    let plane = layout == "C422" ? [10, 30] : plane
    let stream = Array("YUV4MPEG2 W2 H2 F25:1 \(layout) XCOLORRANGE=FULL\nFRAME\n".utf8) + [1, 2, 3, 4] + plane + plane
    let image = try #require(try frames(stream).first).image
    #expect(image.bytes == [1, 2, 3, 4] + pair && image.format == .yCbCr601Full)
  }

  @Test(
    arguments: [
      ("", .unreadable, "byte 0"), ("RIFF\n", .unreadable, "byte 0"), ("YUV4MPEG2 W2 H2", .unreadable, "byte 0"),
      ("YUV4MPEG2 W2 F25:1\n", .unreadable, "2 x 0"), ("YUV4MPEG2 W0 H2\n", .unreadable, "byte 10"),
      ("YUV4MPEG2 W200 H200\n", .unreadable, "10000 pixels"),
      ("YUV4MPEG2 W99999999999999999999 H2\n", .unreadable, "W9"),
      ("YUV4MPEG2 W2 H2 C420p10\n", .unreadable, "byte 16"), ("YUV4MPEG2 W2 H2 Fx\n", .unreadable, "byte 16"),
      ("YUV4MPEG2 W2 H2 Cmono\nFRAME\nabc", .endedEarly, "byte 31"),
      ("YUV4MPEG2 W2 H2 Cmono\nFRAMES\nabcd", .unreadable, "byte 22"),
      ("YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcdFRA", .unreadable, "byte 32"),
    ] as [(String, VideoError.Code, String)])
  func faultIsNamedWithItsPlace(stream: String, code: VideoError.Code, words: String) {
    do throws(VideoError) {
      _ = try frames(Array(stream.utf8))
      Issue.record("there is no error")
    } catch { #expect(error.code == code && error.description.contains(words), "\(error.description)") }
  }

  /// Writes frames to a file.
  private func write(_ images: [PixelBuffer], rate: Double?) throws -> String {
    let path = "\(folder.path)/written.y4m"
    let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    let writer = try RawFrameWriter(to: file, width: images[0].width, height: images[0].height, framesPerSecond: rate)
    for image in images { #expect(try writer.write(image)) }
    return path
  }

  private func gradient(_ width: Int, _ height: Int) throws -> PixelBuffer {
    var bytes: [UInt8] = []
    for y in 0..<height { for x in 0..<width { bytes += [UInt8(x * 4), UInt8(y * 5), UInt8(255 - x * 3)] } }
    return try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
  }

  @Test(.enabled(if: Clips.isAvailable, "\(Clips.reason)"))
  func writtenFramesHaveTheirColoursInFfmpeg() throws {
    let image = try gradient(51, 33)
    let path = try write([image, image], rate: 30_000.0 / 1001)
    #expect(Clips.entry("r_frame_rate", of: path) == "30000/1001")
    let found = Clips.colours(path)
    try #require(found.count == 2 * image.bytes.count)
    let distances = zip(found, image.bytes + image.bytes).map { abs(Int($0) - Int($1)) }
    #expect(distances.reduce(0, +) < 3 * distances.count && distances.allSatisfy { $0 < 24 })
  }

  @Test func readerThatClosesTheStreamEndsItQuietly() throws {
    // Programs of other tests can inherit the reader's end, which keeps a pipe open. shutdown ends a socket for all.
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { close(end) } }
    let writer = try RawFrameWriter(to: ends[1], width: 51, height: 33, framesPerSecond: 25)
    #expect(try writer.write(try gradient(51, 33)))
    try #require(shutdown(ends[0], Int32(SHUT_RDWR)) == 0)
    #expect(try !writer.write(try gradient(51, 33)))
    #expect(try !writer.write(try gradient(51, 33)))
  }
}
