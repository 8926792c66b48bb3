import Dispatch
import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring

/// A child process of this program that answers with a few bytes on a separate pipe.
///
/// Drivers may write to standard output, which is therefore discarded. Standard error is kept for error messages.
enum ChildProcess {
  /// The descriptor to which the child writes its answer.
  static let answerDescriptor: Int32 = 3
  /// The largest accepted answer in bytes; usual answers are a line or two.
  static let largestAnswer = 1 << 16
  private static let keptErrors = 4096

  /// Starts this program with other arguments and waits for its end.
  ///
  /// - Parameters:
  ///   - environment: Variables that are added to this process's environment or override it.
  ///   - timeout: The time in seconds after which the child is killed.
  ///   - isCancelled: Called ten times a second; the child is killed when it returns true.
  /// - Returns: The answer, and the time just before the start (`CLOCK_MONOTONIC`, seconds).
  /// - Throws: `StartFailure` where the child could not be started, failed, crashed, did not end in time, or was
  ///   cancelled.
  static func run(
    _ arguments: [String], environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double) {
    if isCancelled() { throw StartFailure("cancelled") }
    var answers = try ChildPipe()
    var errors = try ChildPipe()
    // Nothing is written to this pipe. Its end tells the child that this process has ended.
    let controlPipe = try ChildPipe()
    defer {
      answers.close()
      errors.close()
      controlPipe.close()
    }
    let began = FreshStart.clock()
    let process = try spawn(
      arguments, environment, controlPipe: controlPipe.reading, answers: answers.writing, errors: errors.writing)
    Interrupts.setChild(process)
    answers.closeWriting()
    errors.closeWriting()
    var hasEnded = false
    defer {
      Interrupts.setChild(0)
      if !hasEnded {
        kill(process, SIGKILL)
        _ = reap(process)
      }
    }
    let deadline = began + timeout
    var answer: [UInt8] = []
    var standardError: [UInt8] = []
    while answers.isOpen || errors.isOpen {
      if isCancelled() { throw StartFailure("cancelled") }
      guard FreshStart.clock() < deadline else {
        throw StartFailure(
          "it did not end within \(HumanReadable.seconds(timeout)) and was killed" + quoted(standardError))
      }
      var polled = [answers, errors].filter(\.isOpen).map { pollfd(fd: $0.reading, events: Int16(POLLIN), revents: 0) }
      guard poll(&polled, nfds_t(polled.count), 100) > 0 else { continue }
      for entry in polled where entry.revents != 0 {
        if entry.fd == answers.reading {
          answers.read(into: &answer)
          guard answer.count <= largestAnswer else {
            throw StartFailure("its answer is longer than \(largestAnswer) bytes")
          }
        } else {
          errors.read(into: &standardError)
          if standardError.count > keptErrors { standardError.removeFirst(standardError.count - keptErrors) }
        }
      }
    }
    // The child has closed its pipes but may still be running.
    Interrupts.setChild(0)
    while true {
      var status: Int32 = 0
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process || (ended < 0 && errno != EINTR) {
        hasEnded = true
        try check(status, standardError)
        return (answer, began)
      }
      if isCancelled() { throw StartFailure("cancelled") }
      guard FreshStart.clock() < deadline else {
        throw StartFailure("it answered and did not end within \(HumanReadable.seconds(timeout))")
      }
      usleep(1000)
    }
  }

  /// Ends this process when its parent ends for any reason. Standard input is a pipe that only the parent holds open.
  static func endWithParent() {
    DispatchQueue(label: "kelvin.parent").async {
      waitForParent()
      _exit(1)
    }
  }

  /// Waits until the parent has ended, or has closed the pipe on this process's standard input.
  static func waitForParent() { while byteFromParent() != nil {} }

  /// Waits for the next byte from the parent; nil when the parent has ended or closed the pipe.
  static func byteFromParent() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 1 { return byte }
      if count == 0 || errno != EINTR { return nil }
    }
  }

  static func check(_ status: Int32, _ standardError: [UInt8]) throws(StartFailure) {
    let signal = status & 0x7F
    guard signal == 0 else {
      throw StartFailure("it crashed: \(String(cString: strsignal(signal)))" + quoted(standardError))
    }
    let code = (status >> 8) & 0xFF
    guard code == 0 else { throw StartFailure("it failed with status \(code)" + quoted(standardError)) }
  }

  /// Returns the child's last error message as one line.
  static func quoted(_ standardError: [UInt8]) -> String {
    let lines = String(decoding: standardError, as: UTF8.self).split(whereSeparator: \.isNewline)
    let last = lines.last { $0.hasPrefix("kelvin: error: ") } ?? lines.last
    return last.map { ": \($0)" } ?? ""
  }

  static func reap(_ process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }
}
