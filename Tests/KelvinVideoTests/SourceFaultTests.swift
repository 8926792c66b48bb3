import Glibc
import Kelvin
import KelvinVideo
import TestSupport
import Testing

/// Files that are damaged, absent or of another kind, and decoders that end.
@Suite(.enabled(if: Clips.isAvailable, "\(Clips.reason)"))
struct SourceFaultTests {
  private let folder = TemporaryFolder()

  private func clip(_ name: String, _ options: String) -> String {
    Clips.make(folder, name, Clips.source("testsrc2=s=128x96:r=25:d=2"), options)
  }

  private static let longFolder = TemporaryFolder()
  private static let longClip = Clips.make(
    longFolder, "long.mp4", Clips.source("testsrc2=s=128x96:r=25:d=20"), "-c:v mpeg4")

  /// A clip of more frames than the pipes hold, with a name of its own by which its decoder is found.
  private func long(_ name: String) throws -> String {
    let path = "\(folder.path)/\(name)"
    try #require(link(Self.longClip, path) == 0)
    return path
  }

  /// Reads a source to its end: the frames before the error, and the error.
  private func read(
    _ path: String, only part: PixelRect? = nil
  ) -> (frames: Int, error: VideoError?, remarks: [String]) {
    var count = 0
    do throws(VideoError) {
      let source = try VideoSource(path)
      if let part { #expect(source.decode(only: part)) }
      do throws(VideoError) {
        while try source.next() != nil { count += 1 }
        return (count, nil, source.remarks)
      } catch {
        do { #expect(try source.next()?.number == nil) } catch { Issue.record("a second error: \(error)") }
        return (count, error, source.remarks)
      }
    } catch { return (0, error, []) }
  }

  @Test(arguments: Tier.some(1, of: ["short.mp4", "short.mkv"]))
  func truncatedFileGivesItsFramesAndThenThePlaceOfTheDamage(name: String) throws {
    let options = "-c:v libx264 -pix_fmt yuv420p -g 10" + (name.hasSuffix("mp4") ? " -movflags faststart" : "")
    let bytes = TemporaryFolder.read(clip("whole-\(name)", options))
    let path = folder.write(Array(bytes.prefix(bytes.count / 2)), name)
    let (frames, error, _) = read(path)
    #expect(frames == Clips.timestamps(path).count && (5..<45).contains(frames))
    #expect(error?.code == .endedEarly)
    #expect(error?.description.contains("after \(frames)") == true, "\(error?.description ?? "")")
    let part = read(path, only: PixelRect(x: 16, y: 0, width: 96, height: 96))
    #expect(part.frames == frames && part.error?.description == error?.description)
  }

  @Test func damageInTheMiddleIsARemark() throws {
    var bytes = TemporaryFolder.read(clip("whole.ts", "-c:v mpeg2video -g 5"))
    for offset in bytes.count / 2..<bytes.count / 2 + 400 where offset % 188 > 8 { bytes[offset] ^= 0x5A }
    let (frames, error, remarks) = read(folder.write(bytes, "damaged.ts"))
    #expect(error == nil && frames >= 45)
    #expect(remarks.contains { $0.contains("damaged") }, "\(remarks)")
  }

  @Test func sourcesThatAreNotVideosAreRefused() throws {
    let cases: [(path: String, code: VideoError.Code, words: String)] = [
      (folder.write([], "empty.mp4"), .unreadable, "empty"),
      (folder.write("Not a video.\n", "letter.mp4"), .unreadable, "cannot be opened as a video"),
      ("\(folder.path)/absent.mp4", .absent, "does not exist"),
      (Clips.make(folder, "sound.mp4", Clips.source("sine=d=0.2")), .unreadable, "has no video stream"),
      ("\(folder.path)/*.png", .absent, "no file"),
      ("gopher://example.org/clip", .request, "'gopher' is not the scheme"),
      ("/dev/null", .unreadable, "cannot be opened"),
      ("987654", .absent, "/dev/video987654"),
    ]
    for (path, code, words) in cases {
      let error = read(path).error
      #expect(
        error?.code == code && error?.description.contains(words) == true, "\(path): \(error?.description ?? "none")")
    }
    mkdir("\(folder.path)/nothing", 0o755)
    let error = read("\(folder.path)/nothing").error
    #expect(error?.code == .unreadable && error?.description.contains("no images") == true)
  }

  @Test func playlistCannotOpenTheNetworkOrAnotherProtocol() throws {
    let list = folder.write(
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/clip.ts\n#EXT-X-ENDLIST\n", "list.m3u8")
    let error = read(list).error
    #expect(error?.code == .unreadable, "\(error?.description ?? "none")")
    #expect(error?.description.contains("refused") == false)
  }

  @Test func killedDecoderIsAnErrorWithTheSignalAndThePlace() throws {
    let path = try long("killed.mp4")
    let source = try VideoSource(path)
    for _ in 0..<3 { #expect(try source.next() != nil) }
    let processes = Clips.processes(naming: path)
    #expect(processes.count == 1)
    for process in processes { kill(process, SIGKILL) }
    var count = 3
    do throws(VideoError) {
      while try source.next() != nil { count += 1 }
      Issue.record("there is no error")
    } catch {
      #expect(error.code == .toolFailed && error.description.contains("signal 9"))
      #expect(error.description.contains("after frame \(count - 1)"), "\(error.description)")
    }
  }

  @Test func cancelEndsTheDecoderAndTheFrames() throws {
    let path = try long("cancelled.mp4")
    let source = try VideoSource(path)
    #expect(try source.next() != nil)
    #expect(Clips.processes(naming: path).count == 1)
    source.cancel()
    #expect(try source.next()?.number == nil)
    #expect(Clips.processes(naming: path).isEmpty)
  }

  @Test func releasedSourceEndsItsDecoder() throws {
    let path = try long("released.mp4")
    var source: VideoSource? = try VideoSource(path)
    let frame = try #require(try source?.next())
    let before = frame.image.bytes
    source = nil
    #expect(Clips.processes(naming: path).isEmpty)
    // The frame keeps its memory.
    #expect(frame.image.bytes == before)
  }
}
