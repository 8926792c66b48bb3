internal import CKelvinSupport
import Glibc
package import KelvinBasics

/// The worker's side of the messages. It runs in a process of its own, on one thread.
package final class WorkerService: Sendable {
  private let socket: Int32
  private let ended: @Sendable () -> WorkerMessage

  /// - Parameter ended: Provides the message after the last one of a parent that has ended.
  package init(socket: Int32 = STDIN_FILENO, ended: @escaping @Sendable () -> WorkerMessage = { exit(0) }) {
    (self.socket, self.ended) = (socket, ended)
  }

  /// Restricts this process for its remaining life, and tells the parent that it is ready.
  ///
  /// - Parameter memoryBytes: The bytes by which the private memory may grow.
  /// - Returns: False if the system cannot restrict the process, which must then end.
  package func enterSandbox(memoryBytes: UInt64) -> Bool {
    guard let step = ck_sandbox_enter(memoryBytes) else {
      send(WorkerMessage(["ready", WorkerMessage.version]))
      return true
    }
    let reason = String(cString: strerror(errno))
    send(
      .failed(
        "the worker cannot restrict itself: \(String(cString: step)): \(reason)",
        "use a Linux kernel with seccomp filters on x86-64 or aarch64, or decode without isolation"))
    return false
  }

  package func send(_ message: WorkerMessage) {
    // A parent that has ended gets no answer.
    guard message.send(to: socket) == 0 else { exit(1) }
  }

  /// Waits for the parent's next message. By default the process ends with its parent.
  package func receive() -> WorkerMessage {
    (try? WorkerMessage.receive(from: socket, seconds: -1, takesDescriptor: true)) ?? ended()
  }

  /// Tries every forbidden action and answers with the error numbers; 0 stands for an action that was not refused.
  package func reportRefusals() {
    let actions = [
      CK_SANDBOX_OPEN, CK_SANDBOX_SOCKET, CK_SANDBOX_EXECUTE, CK_SANDBOX_FORK, CK_SANDBOX_EXECUTABLE_MEMORY,
      CK_SANDBOX_TRACE, CK_SANDBOX_KILL_PARENT,
    ]
    send(WorkerMessage(["refusals"] + actions.map { "\(ck_sandbox_try($0))" }))
  }
}

/// Asks the parent to open files.
extension WorkerService: FileBroker {
  package func open(
    _ path: String, below folder: String?, flags: Int32, followsLinks: Bool
  ) throws(FolderDescent.Failure) -> Int32 {
    send(WorkerMessage(["open", path, folder == nil ? "" : "below", folder ?? "", "\(flags)", "\(followsLinks)"]))
    let answer = receive()
    if answer[0] == "file", answer.descriptor >= 0 { return answer.descriptor }
    close(answer.descriptor)
    let code = Int32(answer[1]) ?? EPERM
    switch answer[0] {
    case "link": throw .link(answer[1], target: answer[2])
    case "folder": throw .folder(code)
    default: throw .system(code)
    }
  }
}

extension FolderDescent.Failure {
  /// The answer to a worker whose file cannot be opened.
  package var message: WorkerMessage {
    switch self {
    case .folder(let code): WorkerMessage(["folder", "\(code)"])
    case .system(let code): WorkerMessage(["system", "\(code)"])
    case .link(let part, let target): WorkerMessage(["link", part, target])
    }
  }
}
