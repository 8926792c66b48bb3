import Glibc
import Kelvin
import KelvinVideo
import TestSupport
import Testing

/// Written videos, judged by ffprobe.
@Suite(.enabled(if: Clips.isAvailable, "\(Clips.reason)"))
struct VideoWriterTests {
  private let folder = TemporaryFolder()

  /// Copies the frames of a source to a file.
  @discardableResult
  private func copy(_ path: String, to result: String, isDrawn: Bool = false, most: Int = .max) throws -> VideoWriter {
    let source = try VideoSource(path)
    let facts = source.facts
    let writer = try VideoWriter(
      to: result, width: facts.width, height: facts.height, framesPerSecond: facts.framesPerSecond, audioFrom: source)
    var count = 0
    while count < most, let frame = try source.next() {
      try writer.write(isDrawn ? frame.image.converted(to: .rgb8) : frame.image, time: frame.time)
      count += 1
    }
    try writer.finish()
    return writer
  }

  private func times(_ path: String) -> [Double] {
    let base = Clips.entry("time_base", of: path).split(separator: "/").compactMap { Double($0) }
    return Clips.timestamps(path).map { Double($0) * base[0] / base[1] }
  }

  private func names() -> [String] { TemporaryFolder.entries(folder.path) ?? [] }

  @Test(arguments: Tier.some(1, of: [true, false]))
  func fileHasTheTimesTheDurationTheRateAndTheSoundOfTheOriginal(isDrawn: Bool) throws {
    let original = Clips.make(
      folder, "original.mp4", Clips.source("testsrc2=s=64x48:r=30000/1001:d=2"), Clips.source("sine=d=2"),
      "-c:v libx264 -bf 2 -pix_fmt yuv420p -c:a aac")
    let result = "\(folder.path)/result.mp4"
    let writer = try copy(original, to: result, isDrawn: isDrawn)
    #expect(writer.remarks.isEmpty && names() == ["original.mp4", "result.mp4"])
    let expectedTimes = times(original)
    #expect(times(result) == expectedTimes && expectedTimes.count == 60)
    // A file of fragments has no number of frames in its header.
    let video = "width,height,r_frame_rate,avg_frame_rate,duration,nb_frames"
    #expect(Clips.entries(video, of: result) == Clips.entries(video, of: original))
    let sound = "codec_name,duration,nb_frames"
    #expect(Clips.entries(sound, of: result, stream: "a:0") == Clips.entries(sound, of: original, stream: "a:0"))
    let (found, expected) = (Clips.colours(result), Clips.colours(original))
    try #require(found.count == expected.count)
    let distance = zip(found, expected).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    #expect(distance < 6 * found.count, "a mean difference of \(Double(distance) / Double(found.count))")
  }

  @Test(arguments: Tier.some(1, of: ["mp4", "mkv", "mov", "webm"]))
  func variableRateAndALateStartAreKept(ending: String) throws {
    let original = Clips.make(
      folder, "original.mkv", Clips.source("testsrc2=s=66x48:r=25:d=1,format=rgb24,crop=65:47"),
      #"-vf select='gt(mod(n\,5)\,1)' -vsync vfr -output_ts_offset 3 -c:v ffv1 -pix_fmt yuv420p"#)
    let result = "\(folder.path)/result.\(ending)"
    try copy(original, to: result, isDrawn: true)
    // Without sound the first frame is at 0.
    let (expected, found) = (times(original), times(result))
    try #require(found.count == expected.count && found.count == 15)
    #expect(zip(found, expected).allSatisfy { abs($0 - ($1 - expected[0])) < 0.0011 }, "\(found) \(expected)")
    // An odd side has one more row or column.
    #expect(Clips.entries("width,height", of: result) == ["width=66", "height=48"])
  }

  @Test(.slow) func soundOfAStreamThatBeginsLateKeepsItsPlace() throws {
    let original = Clips.make(
      folder, "original.ts", Clips.source("testsrc2=s=64x48:r=25:d=1"), Clips.source("sine=d=1"),
      "-c:v libx264 -bf 0 -pix_fmt yuv420p -c:a mp2")
    let result = "\(folder.path)/result.mp4"
    try copy(original, to: result)
    func start(_ path: String, _ stream: String) -> Double {
      Double(Clips.entry("start_time", of: path, stream: stream)) ?? .nan
    }
    let (video, sound) = (start(result, "v:0"), start(result, "a:0"))
    #expect(abs(video - sound - (start(original, "v:0") - start(original, "a:0"))) < 0.025)
    #expect(abs(min(video, sound)) < 0.025)
    // MPEG audio of layer 2 is not for this kind of file.
    #expect(Clips.entry("codec_name", of: result, stream: "a:0") == "aac")
  }

  @Test func interruptedVideoIsPlayableAndItsSoundEndsWithIt() throws {
    let original = Clips.make(
      folder, "original.mp4", Clips.source("testsrc2=s=64x48:r=25:d=4"), Clips.source("sine=d=4"),
      "-c:v libx264 -pix_fmt yuv420p -c:a aac")
    let result = "\(folder.path)/result.mp4"
    try copy(original, to: result, most: 25)
    #expect(Clips.timestamps(result).count == 25)
    let sound = try #require(Double(Clips.entry("duration", of: result, stream: "a:0")))
    #expect(sound > 0.9 && sound < 1.2)
  }

  private func gray(_ level: Int, _ width: Int = 64, _ height: Int = 48) throws -> PixelBuffer {
    try PixelBuffer(
      width: width, height: height, format: .rgb8,
      bytes: [UInt8](repeating: UInt8(level % 256), count: 3 * width * height))
  }

  @Test func killedEncoderLeavesAPlayableFileAndAnExistingOneAsItWas() throws {
    let result = folder.write("earlier", "result.mp4")
    let writer = try VideoWriter(to: result, width: 64, height: 48, framesPerSecond: 25)
    var failure: VideoError?
    do throws(VideoError) {
      for number in 0..<2000 {
        try writer.write(try! gray(number), time: .milliseconds(40 * number))
        // The first fragments are in the file when it has some bytes.
        guard number % 50 == 0, TemporaryFolder.read("\(folder.path)/result.partial.mp4").count > 2000 else { continue }
        for process in Clips.processes(naming: folder.path) { kill(process, SIGKILL) }
      }
    } catch { failure = error }
    let error = try #require(failure)
    #expect(error.code == .toolFailed && error.description.contains("signal 9"))
    #expect(String(decoding: TemporaryFolder.read(result), as: UTF8.self) == "earlier")
    let saved = Clips.timestamps("\(folder.path)/result.partial.mp4").count
    #expect(saved >= 25 && error.description.contains("the first \(saved) of"), "\(error.description)")
    #expect(throws: error) { try writer.finish() }
  }

  @Test func fullDiskIsAnErrorWithTheNumberOfSavedFrames() throws {
    // Writing to a link to /dev/full fails as on a full disk.
    let result = "\(folder.path)/result.mp4"
    let writer = try VideoWriter(to: result, width: 64, height: 48, framesPerSecond: 25)
    unlink("\(folder.path)/result.partial.mp4")
    symlink("/dev/full", "\(folder.path)/result.partial.mp4")
    do throws(VideoError) {
      for number in 0..<2000 { try writer.write(try! gray(number), time: .milliseconds(40 * number)) }
      try writer.finish()
      Issue.record("there is no error")
    } catch {
      #expect(error.code == .noSpace && error.description.contains("no frame was saved"), "\(error.description)")
    }
    #expect(names().isEmpty)
  }

  @Test func cancelledWriterLeavesNothing() throws {
    let result = folder.write("earlier", "result.mp4")
    let writer = try VideoWriter(to: result, width: 64, height: 48, framesPerSecond: nil)
    try writer.write(gray(1), time: .seconds(5))
    writer.cancel()
    try writer.write(gray(2), time: .seconds(6))
    try writer.finish()
    #expect(names() == ["result.mp4"] && TemporaryFolder.read(result).count == 7)
    #expect(Clips.processes(naming: folder.path).isEmpty)
  }

  @Test func withoutFramesThereIsNoFile() throws {
    let writer = try VideoWriter(to: "\(folder.path)/result.mkv", width: 64, height: 48, framesPerSecond: 25)
    try writer.finish()
    #expect(names().isEmpty && writer.remarks.count == 1 && writer.frameCount == 0)
  }

  @Test func namesThatCannotBeWrittenAreRefused() throws {
    folder.write("", "file")
    let cases: [(String, VideoError.Code)] = [
      ("result.avi", .request), ("result", .request), ("absent/result.mp4", .io), ("file/result.mp4", .io),
    ]
    for (name, code) in cases {
      do throws(VideoError) {
        _ = try VideoWriter(to: "\(folder.path)/\(name)", width: 64, height: 48, framesPerSecond: 25)
        Issue.record("\(name) is accepted")
      } catch { #expect(error.code == code, "\(error.description)") }
    }
  }

  @Test func framesOfOtherSizesAndEqualTimesAreAdapted() throws {
    let result = "\(folder.path)/result.mp4"
    let writer = try VideoWriter(to: result, width: 64, height: 48, framesPerSecond: 25)
    try writer.write(gray(10), time: .zero)
    try writer.write(gray(20, 32, 24), time: .zero)
    try writer.write(gray(30), time: .milliseconds(80))
    try writer.finish()
    #expect(Clips.timestamps(result).count == 3 && writer.remarks.count == 2, "\(writer.remarks)")
  }
}
