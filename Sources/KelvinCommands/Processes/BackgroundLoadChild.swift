import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// A child process that generates background load until the pipe on its standard input closes.
final class BackgroundLoadChild: BackgroundLoadConnection {
  /// The time limit in seconds for starting the load, which may open drivers first, and for ending.
  private static let timeLimit = 60.0

  let process: Int32
  private var controlPipe: ChildPipe
  private var answers: ChildPipe
  private var errors: ChildPipe
  private var standardError: [UInt8] = []
  private var hasEnded = false

  init(_ items: [String]) throws(StartFailure) {
    controlPipe = try ChildPipe()
    answers = try ChildPipe()
    errors = try ChildPipe()
    process = try ChildProcess.spawn(
      [BackgroundLoadCommand.name] + items, [:], controlPipe: controlPipe.reading, answers: answers.writing,
      errors: errors.writing)
    answers.closeWriting()
    errors.closeWriting()
    _ = fcntl(controlPipe.writing, F_SETFL, O_NONBLOCK)
    var first: [UInt8] = []
    let deadline = FreshStart.clock() + Self.timeLimit
    while first.isEmpty, answers.isOpen, FreshStart.clock() < deadline { waitAndRead(into: &first) }
    guard !first.isEmpty else {
      if !answers.isOpen { while errors.isOpen { readErrors() } }
      throw StartFailure("it did not start" + ChildProcess.quoted(standardError))
    }
  }

  deinit {
    if !hasEnded {
      kill(process, SIGKILL)
      _ = ChildProcess.reap(process)
    }
    controlPipe.close()
    answers.close()
    errors.close()
  }

  func finish() throws(StartFailure) -> [UInt8] {
    controlPipe.closeWriting()
    var answer: [UInt8] = []
    let deadline = FreshStart.clock() + Self.timeLimit
    while answers.isOpen, FreshStart.clock() < deadline, answer.count <= ChildProcess.largestAnswer {
      waitAndRead(into: &answer)
    }
    // A process that hangs is killed by `deinit`.
    guard !answers.isOpen else { throw StartFailure("it did not end") }
    while errors.isOpen { readErrors() }
    hasEnded = true
    try ChildProcess.check(ChildProcess.reap(process), standardError)
    return answer
  }

  func send(_ signal: BackgroundLoadSignal) {
    var byte = signal.rawValue
    // The pipe's reading end is open in this process too, so writing to a child that has ended raises no signal.
    _ = write(controlPipe.writing, &byte, 1)
  }

  private func waitAndRead(into bytes: inout [UInt8]) {
    var polled = [
      pollfd(fd: answers.reading, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors.isOpen ? errors.reading : -1, events: Int16(POLLIN), revents: 0),
    ]
    guard poll(&polled, 2, 100) > 0 else { return }
    if polled[0].revents != 0 { answers.read(into: &bytes) }
    if polled[1].revents != 0 { readErrors() }
  }

  /// Drains standard error, so that the child is not blocked by a full pipe, and keeps the beginning.
  private func readErrors() {
    var read: [UInt8] = []
    errors.read(into: &read)
    if standardError.count < ChildProcess.largestAnswer { standardError += read }
  }
}
