import Dispatch
import Glibc
import KelvinBasics

/// Ends the process after a limit was reached, if the work does not end in time by itself, for example because it is
/// inside a driver's compiler or a system call.
enum LimitGuard {
  private static let queue = DispatchQueue(label: "kelvin.limits")
  /// The interval between two checks in seconds.
  private static let interval = 0.02
  /// The number of checks after a limit was reached before the process is ended.
  private static let gracePeriod = 50

  /// Watches a budget for the life of the process.
  static func watch(_ budget: WorkBudget) {
    queue.async {
      for _ in 0..<gracePeriod {
        repeat { usleep(UInt32(interval * 1e6)) } while !budget.measuresSpent
      }
      Console.lastError(budget.excess?.description ?? "a limit was reached")
      _exit(ExitCode.limit.rawValue)
    }
  }
}
