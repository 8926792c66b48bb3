import Glibc
import Kelvin
import KelvinBasics

/// A process of this program that works until the pipe on its standard input closes.
final class NeighbourChild: NeighbourConnection {
  /// Seconds until it works, which may open drivers first, and until it has ended.
  private static let patience = 60.0

  let process: Int32
  private var lifeline: ChildPipe
  private var answers: ChildPipe
  private var errors: ChildPipe
  private var hasEnded = false

  init(_ items: [String]) throws(StartFailure) {
    lifeline = try ChildPipe()
    answers = try ChildPipe()
    errors = try ChildPipe()
    process = try ChildProcess.spawn(
      [NeighbourCommand.name] + items, [:], lifeline: lifeline.reading, answers: answers.writing,
      errors: errors.writing)
    answers.closeWriting()
    errors.closeWriting()
    var first: [UInt8] = []
    let deadline = FreshStart.clock() + Self.patience
    while first.isEmpty, answers.isOpen, FreshStart.clock() < deadline { waitAndRead(into: &first) }
    guard !first.isEmpty else {
      var complaint: [UInt8] = []
      if !answers.isOpen { while errors.isOpen { errors.read(into: &complaint) } }
      throw StartFailure("it did not begin" + ChildProcess.quoted(complaint))
    }
  }

  deinit {
    if !hasEnded {
      kill(process, SIGKILL)
      _ = ChildProcess.reap(process)
    }
    lifeline.close()
    answers.close()
    errors.close()
  }

  func finish() throws(StartFailure) -> [UInt8] {
    lifeline.closeWriting()
    var answer: [UInt8] = []
    let deadline = FreshStart.clock() + Self.patience
    while answers.isOpen, FreshStart.clock() < deadline, answer.count <= ChildProcess.largestAnswer {
      waitAndRead(into: &answer)
    }
    // One that hangs is ended with the object.
    guard !answers.isOpen else { throw StartFailure("it did not end") }
    hasEnded = true
    var complaint: [UInt8] = []
    while errors.isOpen { errors.read(into: &complaint) }
    try ChildProcess.check(ChildProcess.reap(process), complaint)
    return answer
  }

  private func waitAndRead(into bytes: inout [UInt8]) {
    var polled = pollfd(fd: answers.reading, events: Int16(POLLIN), revents: 0)
    if poll(&polled, 1, 100) > 0 { answers.read(into: &bytes) }
  }
}
