import ArgumentParser
import Kelvin
import KelvinBasics

/// The limits of time and memory for a command, for use with untrusted files.
struct LimitOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Stop with exit status 75 if the command takes longer than this: 90, 45s, 30m. (default: no limit)",
      valueName: "time"), transform: TimeSpan.seconds)
  var maxSeconds: Double?

  @Option(
    help: ArgumentHelp(
      """
      Stop with exit status 75 if the command needs more host memory than this: 512MB, 4GB. Mapped files do not \
      count. (default: nine tenths of the free memory, unless ulimit bounds it)
      """, valueName: "size"), transform: LimitOptions.bytes)
  var maxMemory: Int?

  /// Parses a size with a unit (`ByteSize`), or a plain number of bytes.
  ///
  /// - Throws: `ValidationError` where the argument is not a size above 0.
  static func bytes(_ text: String) throws -> Int {
    guard let bytes = ByteSize.bytes(text) ?? NumberText.number(text), bytes >= 1, bytes < 0x1p62 else {
      throw ValidationError("'\(text)' is not a size above 0; use 65536, 512MB, 512MiB, 4GB or 4GiB")
    }
    return Int(bytes)
  }

  private var limits: WorkBudget.Limits { WorkBudget.Limits(seconds: maxSeconds, bytes: maxMemory) }

  /// Runs a command's work within its limits, or within those of the machine.
  static func bounding(_ command: any ParsableCommand, _ work: () throws -> Void) throws {
    let chosen = (command as? any LimitedCommand)?.limits.limits ?? WorkBudget.Limits()
    // Under `ulimit` the system refuses memory, and a timer of the limits might get none for its thread.
    let limits = OutOfMemoryMessage.hasLimit ? chosen : chosen.withinFreeMemory()
    guard limits != WorkBudget.Limits() else { return try work() }
    let budget = WorkBudget(limits)
    LimitGuard.watch(budget)
    do { try budget.governing { () throws(any Error) in try work() } } catch {
      if let reported = error as? ReportedFailure, reported.status == .limit { throw reported }
      throw budget.excess.map { ModelError(.limit, $0.description) } ?? error
    }
  }
}

/// A command with limits.
protocol LimitedCommand {
  var limits: LimitOptions { get }
}

/// A command with model options, which include limits.
protocol ModelCommand: LimitedCommand, IsolatedCommand, KeyedCommand {
  var options: ModelOptions { get }
}

extension ModelCommand {
  var limits: LimitOptions { options.limits }
}
