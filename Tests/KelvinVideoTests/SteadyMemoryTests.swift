import KelvinVideo
import TestSupport
import Testing

/// The memory of a long video.
@Suite(.enabled(if: Clips.isAvailable, "\(Clips.reason)"), .slow)
struct SteadyMemoryTests {
  @Test func memoryStaysTheSameOverManyFrames() async throws {
    await #expect(processExitsWith: .success) {
      let folder = TemporaryFolder()
      let path = Clips.make(
        folder, "long.mkv", Clips.source("color=s=160x120:r=1000:d=100"), "-c:v mpeg4 -g 1000 -pix_fmt yuv420p")
      let source = try VideoSource(path)
      let process = OwnProcess()
      var (count, after1000, descriptors) = (0, 0, 0)
      while try source.next() != nil {
        count += 1
        if count == 1000 { (after1000, descriptors) = (process.residentByteCount, process.descriptorCount) }
        if count == 99_000 {
          #expect(process.residentByteCount < after1000 + (2 << 20))
          #expect(process.descriptorCount == descriptors)
        }
      }
      #expect(count == 100_000)
    }
  }
}
