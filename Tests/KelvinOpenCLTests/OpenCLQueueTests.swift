import ConformanceChecks
import Dispatch
import Glibc
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import Synchronization
import TestSupport
import Testing

@Suite("Synchronization of an OpenCL queue", .enabled(if: !present.isEmpty, absence))
struct OpenCLQueueTests {
  @Test(
    "threads that share one queue do not deadlock", .slow,
    .timeLimit(.minutes(3)))
  func basicDevices() async throws {
    await #expect(processExitsWith: .success) {
      // Read when the driver is opened, which is when `present` is first asked for. Other drivers do not know it.
      setenv("POCL_DEVICES", "basic", 1)
      var net = TestNetwork()
      let x = net.input([1, 8, 12, 12])
      let y = try net.convolution(x, 8, kernel: 3, activation: .relu)
      let graph = try net.finish(y)
      let (device, feed) = (present[0], inputs(of: graph))
      let failures = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        for _ in 0..<25 {
          do { _ = try device.run(graph, feed) } catch { failures.withLock { $0.append("\(error)") } }
        }
      }
      #expect(failures.withLock { $0 } == [])
    }
  }
}
