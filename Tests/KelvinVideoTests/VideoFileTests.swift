import Kelvin
import KelvinVideo
import TestSupport
import Testing

/// Files that ffmpeg decodes.
@Suite(.enabled(if: Clips.isAvailable, "\(Clips.reason)"))
struct VideoFileTests {
  private let folder = TemporaryFolder()

  /// The times of frames in units of a time base, such as `1/12800`; nil for a time between two units.
  private func timestamps(_ times: [Duration], _ base: String) -> [Int64?] {
    let parts = base.split(separator: "/").compactMap { Int64($0) }
    guard parts.count == 2 else { return [] }
    return times.map { time in
      let ticks = (time / .seconds(1) * Double(parts[1]) / Double(parts[0])).rounded()
      let exact = Duration.seconds(1) * Int64(ticks) * parts[0] / parts[1]
      let distance = time - exact
      return distance < .nanoseconds(1) && distance > .nanoseconds(-1) ? Int64(ticks) : nil
    }
  }

  @Test func timesThatBeginAgainAreContinuedWithARemark() throws {
    let part = Clips.make(folder, "part.ts", Clips.source("testsrc2=s=64x48:r=25:d=3"), "-c:v mpeg2video -g 10")
    let bytes = TemporaryFolder.read(part)
    let source = try VideoSource(folder.write(bytes + bytes, "joined.ts"))
    let times = try Clips.frames(source).map(\.time)
    #expect(times.count == 150)
    let steps = zip(times.dropFirst(), times).map { $0 - $1 }
    #expect(steps.allSatisfy { $0 > .milliseconds(39) && $0 < .milliseconds(41) }, "\(steps)")
    #expect(source.remarks.contains { $0.contains("begin again at frame 75") }, "\(source.remarks)")
  }

  private func expectFfprobesTimes(_ path: String) throws {
    let source = try VideoSource(path)
    var (times, numbers): ([Duration], [Int]) = ([], [])
    while let frame = try source.next() {
      times.append(frame.time)
      numbers.append(frame.number)
    }
    let expected = Clips.timestamps(path)
    #expect(!expected.isEmpty)
    #expect(timestamps(times, Clips.entry("time_base", of: path)) == expected)
    #expect(numbers == Array(0..<expected.count))
  }

  @Test(
    .enabled(if: SharedFiles.root != nil, "\(SharedFiles.reason)"),
    arguments: Tier.some(1, of: ["faceapi_test_video", "bottle-detection"]))
  func countOrderAndTimesAreThoseOfFfprobe(name: String) throws {
    try expectFfprobesTimes(SharedFiles.path("video/\(name).mp4"))
  }

  @Test(arguments: Tier.some(2, of: ["b-frames.mp4", "cut.mp4", "variable.mkv", "late.ts", "film.mov"]))
  func timesOfReorderedVariableAndShiftedFramesAreThoseOfFfprobe(name: String) throws {
    let pattern = Clips.source("testsrc2=s=64x48:r=25:d=2")
    switch name {
    case "b-frames.mp4": Clips.make(folder, name, pattern, "-c:v libx264 -bf 3 -pix_fmt yuv420p")
    case "variable.mkv":
      Clips.make(folder, name, pattern, #"-vf select='gt(mod(n\,5)\,1)' -vsync vfr -c:v libx264 -pix_fmt yuv420p"#)
    case "cut.mp4":
      // A cut between key frames leaves an edit list and frames before the start.
      let whole = Clips.make(folder, "whole.mp4", pattern, "-c:v libx264 -g 20 -bf 2 -pix_fmt yuv420p")
      Clips.make(folder, name, "-ss 0.5 -i \(whole) -c copy")
    case "film.mov":
      Clips.make(folder, name, Clips.source("testsrc2=s=64x48:r=24000/1001:d=2"), "-c:v mpeg4")
    default: Clips.make(folder, name, pattern, "-c:v mpeg2video -bf 2")
    }
    try expectFfprobesTimes("\(folder.path)/\(name)")
  }

  @Test func factsAreThoseOfTheFile() throws {
    let path = Clips.make(
      folder, "-clip:with=odd name.mp4", Clips.source("testsrc2=s=66x50:r=30:d=1"), Clips.source("sine=d=1"),
      "-c:v libx264 -pix_fmt yuv420p -c:a aac")
    let facts = try VideoSource(path).facts
    #expect(facts.kind == .file && facts.width == 66 && facts.height == 50 && facts.orientation == .up)
    #expect(facts.framesPerSecond == 30 && facts.frameCount == 30 && facts.duration == .seconds(1))
    #expect(facts.hasAudio && !facts.isLive && facts.codec == "h264" && facts.name == path)
  }

  @Test func variableRateIsUnknown() throws {
    let path = Clips.make(
      folder, "variable.mp4", Clips.source("testsrc2=s=64x48:r=25:d=2"),
      #"-vf select='gt(mod(n\,5)\,1)' -vsync vfr -c:v libx264 -pix_fmt yuv420p"#)
    #expect(try VideoSource(path).facts.framesPerSecond == nil)
  }

  /// Stored formats, and the format of the frames.
  private static let colours: [(options: String, format: PixelFormat)] = [
    ("-pix_fmt yuv420p -c:v ffv1", .yCbCr601Video),
    ("-vf scale=out_color_matrix=bt709 -pix_fmt yuv420p -c:v ffv1 -colorspace bt709", .yCbCr709Video),
    ("-pix_fmt yuvj420p -c:v mjpeg -q:v 2", .yCbCr601Full),
    (
      "-vf scale=out_color_matrix=bt709:out_range=pc -pix_fmt yuv420p -c:v libx264 -colorspace bt709 -color_range pc",
      .yCbCr709Full
    ),
    ("-pix_fmt yuv444p10le -c:v ffv1", .yCbCr709Video),
    ("-pix_fmt yuv422p -c:v ffv1", .yCbCr709Video),
    ("-pix_fmt gray -c:v ffv1", .yCbCr709Video),
    ("-pix_fmt bgr0 -c:v ffv1", .yCbCr709Video),
    ("-vf scale=out_color_matrix=bt2020 -pix_fmt yuv420p10le -c:v libx265 -colorspace bt2020nc", .yCbCr709Video),
  ]

  @Test(arguments: Tier.some(2, of: Array(colours.indices)))
  func coloursAreThoseOfFfmpegsConversion(index: Int) throws {
    let (options, format) = Self.colours[index]
    let path = Clips.make(folder, "colour.mkv", Clips.source("smptebars=s=224x96:r=5:d=0.2"), options)
    let source = try VideoSource(path)
    #expect(source.facts.format == format)
    let found = try #require(try source.next()).image.converted(to: .rgb8).bytes
    let expected = Clips.colours(path)
    try #require(found.count == expected.count)
    // Chroma at the edges of the bars is interpolated in several ways. Converted frames are rounded three times.
    let tolerance = options.contains("-pix_fmt yuv420p ") || options.contains("yuvj420p") ? 3 : 6
    func pixel(_ bytes: [UInt8], _ at: Int) -> [Int] { bytes[at..<at + 3].map { Int($0) } }
    func distance(_ first: [Int], _ second: [Int]) -> Int { zip(first, second).map { abs($0 - $1) }.max() ?? 0 }
    var (compared, worst) = (0, 0)
    for y in 6..<90 {
      for x in 6..<218 {
        let at = 3 * (y * 224 + x)
        let own = pixel(expected, at)
        let around = [at - 18, at + 18, at - 6 * 672, at + 6 * 672]
        guard around.allSatisfy({ distance(pixel(expected, $0), own) <= 1 }) else { continue }
        compared += 3
        worst = max(worst, distance(pixel(found, at), own))
      }
    }
    #expect(worst <= tolerance)
    #expect(compared > found.count / 5)
  }

  @Test func pixelsOfPlainVideoAreTheStoredNumbers() throws {
    let path = Clips.make(
      folder, "stored.mkv", Clips.source("testsrc2=s=68x46:r=10:d=1,format=rgb24,crop=67:45"),
      "-c:v ffv1 -pix_fmt yuv420p")
    let expected = Clips.run(["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "nv12", "-"]).output
    #expect(try Clips.frames(VideoSource(path)).flatMap { $0.image.bytes } == expected)
  }

  /// Frames of odd sizes, of a changed size, of another format and of a file that repeats.
  @Test(arguments: Tier.some(2, of: ["odd.mkv", "both.ts", "deep.mkv", "again.mkv"]))
  func partOfTheFramesIsThatOfWholeFramesAndTheRestIsZero(name: String) throws {
    let path = "\(folder.path)/\(name)"
    let odd = "testsrc2=s=68x46:r=10:d=1,format=rgb24,crop=67:45"
    switch name {
    case "both.ts":
      let first = Clips.make(folder, "a.ts", Clips.source(odd), "-c:v mpeg2video")
      let second = Clips.make(folder, "b.ts", Clips.source("testsrc2=s=96x80:r=10:d=1"), "-c:v mpeg2video")
      folder.write(TemporaryFolder.read(first) + TemporaryFolder.read(second), name)
    case "deep.mkv": Clips.make(folder, name, Clips.source(odd), "-c:v ffv1 -pix_fmt yuv444p10le")
    default: Clips.make(folder, name, Clips.source(odd), "-c:v ffv1 -pix_fmt yuv420p")
    }
    var options = VideoSource.Options()
    options.repeats = name == "again.mkv"
    for part in [
      PixelRect(x: 10, y: 0, width: 46, height: 45), PixelRect(x: 22, y: 8, width: 45, height: 37),
      PixelRect(x: 0, y: 4, width: 67, height: 6),
    ] {
      let (whole, cut) = try (VideoSource(path, options: options), VideoSource(path, options: options))
      #expect(cut.decode(only: part))
      var count = 0
      while count < 25, let expected = try whole.next() {
        let frame = try #require(try cut.next())
        #expect(frame.number == expected.number && frame.time == expected.time)
        #expect(frame.image.width == 67 && frame.image.height == 45)
        // Luma of 67 x 45 bytes, then chroma of 23 rows of 68 bytes.
        let bytes = expected.image.bytes.enumerated().map { at, byte in
          let (x, y) = at < 67 * 45 ? (at % 67, at / 67) : ((at - 67 * 45) % 68, (at - 67 * 45) / 68 * 2)
          let isInside =
            x >= part.x && x < (part.x + part.width + 1) / 2 * 2 && y >= part.y
            && y < part.y + part.height
          return at < 67 * 45 && x >= part.x + part.width || !isInside ? 0 : byte
        }
        #expect(frame.image.bytes == bytes, "frame \(count)")
        count += 1
      }
      #expect(count == (options.repeats ? 25 : count) && count >= 10)
      if !options.repeats { #expect(try cut.next()?.number == nil) }
      #expect(cut.remarks.count == whole.remarks.count)
    }
  }

  @Test func partIsRefusedAfterTheFirstFrame() throws {
    let path = Clips.make(folder, "begun.mkv", Clips.source("testsrc2=s=64x48:r=10:d=1"), "-c:v ffv1 -pix_fmt yuv420p")
    let (source, whole) = try (VideoSource(path), VideoSource(path))
    #expect(try source.next()?.number == 0 && whole.next()?.number == 0)
    #expect(!source.decode(only: PixelRect(x: 8, y: 8, width: 8, height: 8)))
    #expect(try source.next()?.image == whole.next()?.image)
  }

  @Test(arguments: Tier.some(1, of: [(90, ImageOrientation.left), (180, .down), (270, .right)]))
  func rotationIsTheOrientationOfStoredFrames(angle: Int, orientation: ImageOrientation) throws {
    let plain = Clips.make(folder, "plain.mp4", Clips.source("testsrc2=s=64x48:r=10:d=0.1"), "-c:v mpeg4")
    let path = Clips.make(folder, "turned.mp4", "-i \(plain) -c copy -metadata:s:v:0 rotate=\(angle)")
    let source = try VideoSource(path)
    let facts = source.facts
    #expect(facts.orientation == orientation && facts.width == 64)
    let frame = try #require(try source.next())
    #expect(frame.orientation == orientation && frame.image.width == 64)
    // ffmpeg itself rotates the frames that it writes.
    let words = ["ffmpeg", "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "gray", "-"]
    let expected = Clips.run(words).output
    let upright = try frame.image.reduced(
      width: facts.uprightWidth, height: facts.uprightHeight, orientation: frame.orientation)
    try #require(expected.count == upright.width * upright.height)
    let bytes = upright.bytes
    let distances = expected.indices.map { pixel in
      let (red, green, blue) = (Int(bytes[3 * pixel]), Int(bytes[3 * pixel + 1]), Int(bytes[3 * pixel + 2]))
      return abs((299 * red + 587 * green + 114 * blue) / 1000 - Int(expected[pixel]))
    }
    #expect(distances.reduce(0, +) < 3 * distances.count)
  }

  // The last frame of the first size is lost in the decoder, for ffprobe too.
  @Test func changedSizeIsScaledToTheFirstWithARemark() throws {
    let first = Clips.make(folder, "a.ts", Clips.source("testsrc2=s=64x48:r=10:d=1"), "-c:v mpeg2video")
    let second = Clips.make(folder, "b.ts", Clips.source("testsrc2=s=96x80:r=10:d=1"), "-c:v mpeg2video")
    let path = folder.write(TemporaryFolder.read(first) + TemporaryFolder.read(second), "both.ts")
    let source = try VideoSource(path)
    let all = try Clips.frames(source)
    #expect(timestamps(all.map(\.time), "1/90000") == Clips.timestamps(path))
    #expect(all.allSatisfy { $0.image.width == 64 && $0.image.height == 48 })
    #expect(
      source.remarks.contains { $0.contains("changes at frame 9") && $0.contains("64 x 48") }, "\(source.remarks)")
  }
}
