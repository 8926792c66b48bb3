import Kelvin

/// A child process that decodes images and models for `--isolate`. Not intended for users.
///
/// It is not a command of the parser: a worker opens no devices and sets no limits but its own.
enum WorkerCommand {
  /// Returns the memory of a worker in bytes, or nil if these arguments start another command.
  static func memoryBytes(_ arguments: [String]) -> UInt64? {
    guard arguments.count == 2, arguments[0] == IsolatedWorker.command else { return nil }
    return UInt64(arguments[1])
  }

  static func serve(_ memoryBytes: UInt64) -> Never {
    // A lack of memory ends the worker with a status that its parent knows.
    IsolatedWorker.serve(memoryBytes: memoryBytes) { OutOfMemoryMessage.prepare() }
  }
}
