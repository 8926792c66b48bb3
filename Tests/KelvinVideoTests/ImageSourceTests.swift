import Kelvin
import KelvinVideo
import TestSupport
import Testing

/// Folders, patterns and files of images as sources.
struct ImageSourceTests {
  private let folder = TemporaryFolder()

  private func write(_ name: String, width: Int, height: Int, level: UInt8) throws {
    let bytes = [UInt8](repeating: level, count: 3 * width * height)
    let image = try PixelBuffer(width: width, height: height, format: .rgb8, bytes: bytes)
    folder.write(try ImageCodec.encode(image), name)
  }

  @Test func imagesOfAFolderFollowInTheOrderOfTheirPaths() throws {
    try write("b.png", width: 4, height: 3, level: 20)
    try write("a10.png", width: 4, height: 3, level: 12)
    try write("a2.png", width: 4, height: 3, level: 14)
    folder.write("no image", "notes.txt")
    var options = VideoSource.Options()
    options.imagesPerSecond = 24
    let source = try VideoSource(folder.path, options: options)
    let facts = source.facts
    #expect(facts.kind == .images && facts.width == 4 && facts.height == 3 && facts.framesPerSecond == 24)
    #expect(facts.frameCount == 3 && facts.duration == .milliseconds(125) && !facts.isLive && !facts.hasAudio)
    let frames = try Clips.frames(source)
    #expect(frames.map { $0.image.bytes[0] } == [12, 14, 20] && frames.map(\.number) == [0, 1, 2])
    #expect(frames[2].time == .seconds(1) / 12 || frames[2].time - .seconds(1) / 12 < .nanoseconds(1))
    #expect(source.remarks.isEmpty)
  }

  @Test func repeatedImagesContinueTheirNumbersAndTimes() throws {
    for level in 1...3 { try write("\(level).png", width: 4, height: 3, level: UInt8(level)) }
    var options = VideoSource.Options()
    options.imagesPerSecond = 10
    options.repeats = true
    let source = try VideoSource(folder.path, options: options)
    #expect(source.facts.frameCount == nil && source.facts.duration == nil)
    let frames = try (0..<8).map { _ in try #require(try source.next()) }
    #expect(frames.map { $0.image.bytes[0] } == [1, 2, 3, 1, 2, 3, 1, 2])
    #expect(frames.map(\.number) == Array(0..<8))
    for (number, frame) in frames.enumerated() {
      let difference = frame.time - .milliseconds(100 * number)
      #expect(difference < .microseconds(1) && difference > .microseconds(-1), "\(frame.time)")
    }
    source.cancel()
    #expect(try source.next() == nil)
  }

  @Test func patternGivesTheMatchingImagesAndLeavesOutDamagedOnes() throws {
    try write("x1.png", width: 4, height: 3, level: 1)
    folder.write("not a PNG", "x2.png")
    try write("x3.png", width: 6, height: 3, level: 3)
    try write("x4.png", width: 7, height: 3, level: 3)
    try write("y.png", width: 4, height: 3, level: 4)
    let source = try VideoSource("\(folder.path)/x*.png")
    let frames = try Clips.frames(source)
    #expect(frames.map(\.number) == [0, 2, 3] && frames.map { $0.image.width } == [4, 6, 7])
    #expect(
      source.remarks.contains { $0.contains("x2.png") } && source.remarks.count { $0.contains("several sizes") } == 1)
  }

  @Test func orientationIsThatOfTheFile() throws {
    let path = "\(SharedFiles.projectRoot)/Tests/Images/files/\(Self.turned)"
    let decoded = try ImageCodec.decode(path: path)
    try #require(decoded.orientation != .up)
    let frame = try #require(try VideoSource(path).next())
    #expect(frame.orientation == decoded.orientation && frame.image == decoded.pixels)
  }

  private static let turned = "exif_6.jpg"

  @Test func rateThatIsNotPositiveIsRefused() throws {
    try write("a.png", width: 4, height: 3, level: 1)
    var options = VideoSource.Options()
    options.imagesPerSecond = 0
    #expect(throws: VideoError.self) { try VideoSource(folder.path, options: options) }
  }
}
