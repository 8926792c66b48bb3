import FaultyServer
import KelvinVideo
import TestSupport
import Testing

/// Servers on the loopback interface.
@Suite(.enabled(if: Clips.isAvailable && FaultyServer.isAvailable, "\(Clips.reason); \(FaultyServer.reason)"))
struct NetworkSourceTests {
  private let folder = TemporaryFolder()

  private func stream() -> String {
    Clips.make(folder, "clip.ts", Clips.source("testsrc2=s=64x48:r=25:d=8"), "-c:v mpeg2video -g 10")
  }

  /// Reads the frames of a server, whose password must not be shown.
  private func read(_ server: RTSPServer, timeout: Duration) -> (frames: [VideoFrame], error: VideoError?) {
    var frames: [VideoFrame] = []
    do throws(VideoError) {
      var options = VideoSource.Options()
      options.timeout = timeout
      let source = try VideoSource("rtsp://user:secret@127.0.0.1:\(server.port)/clip", options: options)
      #expect(source.facts.kind == .network && source.facts.isLive && source.facts.duration == nil)
      #expect(source.facts.name == "rtsp://…@127.0.0.1:\(server.port)/clip" && source.facts.width == 64)
      while let frame = try source.next() { frames.append(frame) }
    } catch {
      #expect(!error.description.contains("secret"))
      return (frames, error)
    }
    return (frames, nil)
  }

  @Test func serverThatStopsIsAnErrorAfterItsFrames() {
    let (frames, error) = read(RTSPServer(stream(), .stop, packets: 60), timeout: .seconds(60))
    #expect(frames.count > 10 && frames.count < 200)
    #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.time < $1.time })
    #expect(error?.code == .endedEarly, "\(error?.description ?? "no error")")
    #expect(error?.description.contains("ended after frame \(frames.count - 1)") == true)
  }

  @Test(.slow) func silentServerIsAnErrorThatNamesTheSeconds() {
    let (frames, error) = read(RTSPServer(stream(), .silence, packets: 60), timeout: .seconds(4))
    #expect(frames.count > 10 && frames.count < 200)
    #expect(error?.code == .silent, "\(error?.description ?? "no error")")
    #expect(error?.description.contains("sent nothing for 4") == true, "\(error?.description ?? "no error")")
  }

  @Test func absentServerIsAnError() {
    #expect { try VideoSource("rtsp://user:secret@127.0.0.1:9/clip") } throws: { error in
      let error = error as? VideoError
      return error?.code == .absent && error?.description.contains("secret") == false
    }
  }

  @Test func fileOfAWebServerIsReadToItsEnd() throws {
    let server = FaultyServer()
    Clips.make(
      server.folder, "clip.mp4", Clips.source("testsrc2=s=64x48:r=25:d=1"), "-c:v mpeg4 -movflags faststart")
    let source = try VideoSource(server.url("plain/clip.mp4"))
    #expect(source.facts.kind == .network && !source.facts.isLive && source.facts.frameCount == 25)
    #expect(try Clips.frames(source).count == 25)
  }
}
