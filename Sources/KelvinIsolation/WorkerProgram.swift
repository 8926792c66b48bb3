internal import CKelvinSupport
import Glibc
import KelvinBasics
import Synchronization

/// The program whose hidden command is the worker.
package enum WorkerProgram {
  /// The hidden command. Its argument is the number of bytes by which the worker's memory may grow.
  package static let command = "isolated-worker"
  private static let own = Mutex(false)

  /// Declares that this process is the program itself.
  package static func isThisProcess() { own.withLock { $0 = true } }

  /// Finds the program.
  ///
  /// - Throws: `WorkerFailure` with the searched paths if it is absent.
  static func path() throws(WorkerFailure) -> String {
    if own.withLock(\.self) { return "/proc/self/exe" }
    if let named = getenv("KELVIN_PROGRAM") { return try checked([String(path: named)]) }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    guard ck_own_path(&buffer, buffer.count) == 0 else { return try checked([]) }
    let folder = String(path: buffer).parentPath
    let besides = ["", "bin", "../bin", "../../bin"].map { folder.appendingPath($0).appendingPath("kelvin") }
    return try checked(besides)
  }

  private static func checked(_ candidates: [String]) throws(WorkerFailure) -> String {
    if let found = candidates.first(where: { access($0.pathBytes, X_OK) == 0 }) { return found }
    throw WorkerFailure(
      .unavailable, "the program 'kelvin', which isolates it, is not at \(candidates.joined(separator: ", "))",
      remedy: "install the program, or name it in the environment variable KELVIN_PROGRAM")
  }
}
