import Dispatch
import Glibc
import KelvinBasics

/// Ends a process that a limit was set for, where the work does not end by itself in time: a driver that compiles, a
/// system call, a library of others.
enum LimitGuard {
  private static let queue = DispatchQueue(label: "kelvin.limits")
  /// Seconds between two looks.
  private static let interval = 0.02
  /// Looks after a limit was reached in which the work may still end by itself.
  private static let patience = 50

  /// Watches for as long as the process lives.
  static func watch(_ budget: WorkBudget) {
    queue.async {
      for _ in 0..<patience {
        repeat { usleep(UInt32(interval * 1e6)) } while !budget.measuresSpent
      }
      Console.lastError(budget.excess?.description ?? "a limit was reached")
      _exit(ExitCode.limit.rawValue)
    }
  }
}
