import Glibc
import KelvinBasics
import KelvinEngine
import KelvinImages
import KelvinIsolation

/// The worker process of `Isolation.worker`.
package enum IsolatedWorker {
  /// The name of the program's hidden command.
  package static let command = WorkerProgram.command

  /// Declares that this process is the program `kelvin`, so that its workers run the same file.
  package static func useThisProgram() { WorkerProgram.isThisProcess() }

  /// Restricts this process and answers requests until the parent ends.
  ///
  /// - Parameters:
  ///   - memoryBytes: The bytes by which the private memory may grow.
  ///   - restricted: Called once when the limits are in effect.
  package static func serve(memoryBytes: UInt64, restricted: () -> Void) -> Never {
    Isolation.standard = .none
    // The decoders' libraries must be loaded while the process can open files. A missing one is reported by `decode`.
    try? ImageCodec.prepare()
    let service = WorkerService()
    guard service.enterSandbox(memoryBytes: memoryBytes) else { exit(1) }
    restricted()
    while true { answer(service, service.receive()) }
  }

  private static func answer(_ service: WorkerService, _ request: WorkerMessage) {
    switch request[0] {
    case "image": ImageCodec.decode(for: service, request)
    case "model": readModel(for: service, request)
    case "refusals": service.reportRefusals()
    case "fault": fault(request[1])
    default: exit(1)
    }
  }

  /// Fails as a decoder may, for tests. Only the parent can ask for it, and the parent can kill the worker anyway.
  private static func fault(_ kind: String) {
    switch kind {
    case "memory":
      var blocks: [[UInt8]] = []
      while true { blocks.append([UInt8](repeating: 1, count: 1 << 20)) }
    case "time": while true { sched_yield() }
    default: abort()
    }
  }
}
