import Dispatch
import Glibc
import Kelvin
import KelvinBasics

/// A process of this program, started anew, that answers with a few bytes on a pipe of its own.
///
/// Drivers may write to standard output as they please; it leads nowhere, and standard error is kept for the case that
/// something fails.
enum ChildProcess {
  /// Where the child writes its answer.
  static let answerDescriptor: Int32 = 3
  /// An answer is a line or two.
  private static let largestAnswer = 1 << 16
  private static let keptErrors = 4096

  /// Starts this program with other arguments and waits for its end.
  ///
  /// - Parameters:
  ///   - environment: added to this process's own, replacing what has the same name.
  ///   - timeout: seconds after which the child is killed.
  ///   - isCancelled: asked ten times a second; the child is killed where it says so.
  /// - Returns: what it answered, and the moment before it was started (CLOCK_MONOTONIC, seconds).
  /// - Throws: `StartFailure` where it could not be started, failed, crashed, did not end in time, or was cancelled.
  static func run(
    _ arguments: [String], environment: [String: String], timeout: Double, isCancelled: @Sendable () -> Bool
  ) throws(StartFailure) -> (answer: [UInt8], began: Double) {
    if isCancelled() { throw StartFailure("cancelled") }
    var answers = try Pipe()
    var errors = try Pipe()
    // Nothing is ever written to it: its end says that this process has ended.
    let lifeline = try Pipe()
    defer {
      answers.close()
      errors.close()
      lifeline.close()
    }
    let began = FreshStart.clock()
    let process = try spawn(
      arguments, environment, lifeline: lifeline.reading, answers: answers.writing, errors: errors.writing)
    Interrupts.setChild(process)
    answers.closeWriting()
    errors.closeWriting()
    var hasEnded = false
    defer {
      if !hasEnded {
        kill(process, SIGKILL)
        _ = reap(process)
      }
      Interrupts.setChild(0)
    }
    let deadline = began + timeout
    var answer: [UInt8] = []
    var complaint: [UInt8] = []
    while answers.isOpen || errors.isOpen {
      if isCancelled() { throw StartFailure("cancelled") }
      guard FreshStart.clock() < deadline else {
        throw StartFailure(
          "it did not end within \(HumanReadable.seconds(timeout)) and was ended" + quoted(complaint))
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
          errors.read(into: &complaint)
          if complaint.count > keptErrors { complaint.removeFirst(complaint.count - keptErrors) }
        }
      }
    }
    // It has closed its pipes; ending takes it a moment more.
    while true {
      var status: Int32 = 0
      let ended = waitpid(process, &status, WNOHANG)
      if ended == process || (ended < 0 && errno != EINTR) {
        hasEnded = true
        try check(status, complaint)
        return (answer, began)
      }
      if isCancelled() { throw StartFailure("cancelled") }
      guard FreshStart.clock() < deadline else {
        throw StartFailure("it answered and did not end within \(HumanReadable.seconds(timeout))")
      }
      usleep(1000)
    }
  }

  /// Ends this process when the one that started it ends, however that ends: its standard input is a pipe that only the
  /// parent holds.
  static func endWithParent() {
    DispatchQueue(label: "kelvin.parent").async {
      var byte: UInt8 = 0
      while true {
        let count = read(STDIN_FILENO, &byte, 1)
        if count == 0 || (count < 0 && errno != EINTR) { _exit(1) }
      }
    }
  }

  private static func check(_ status: Int32, _ complaint: [UInt8]) throws(StartFailure) {
    let signal = status & 0x7F
    guard signal == 0 else {
      throw StartFailure("it crashed: \(String(cString: strsignal(signal)))" + quoted(complaint))
    }
    let code = (status >> 8) & 0xFF
    guard code == 0 else { throw StartFailure("it failed with status \(code)" + quoted(complaint)) }
  }

  /// What it said last, on one line.
  private static func quoted(_ complaint: [UInt8]) -> String {
    let lines = String(decoding: complaint, as: UTF8.self).split(whereSeparator: \.isNewline)
    let last = lines.last { $0.hasPrefix("kelvin: error: ") } ?? lines.last
    return last.map { ": \($0)" } ?? ""
  }

  private static func reap(_ process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return status
  }

  private static func spawn(
    _ arguments: [String], _ environment: [String: String], lifeline: Int32, answers: Int32, errors: Int32
  ) throws(StartFailure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, lifeline, STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    posix_spawn_file_actions_adddup2(&actions, answers, answerDescriptor)
    // The child is to be interruptible, whatever this process has blocked.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    variables.merge(environment) { _, new in new }
    let strings = (["kelvin"] + arguments).map { strdup($0) } + [nil]
    let settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (strings + settings).forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, strings, settings)
    guard code == 0 else {
      throw StartFailure("it cannot be started: \(String(cString: strerror(code)))")
    }
    return process
  }

  private struct Pipe {
    let reading: Int32
    private(set) var writing: Int32
    private(set) var isOpen = true

    init() throws(StartFailure) {
      var ends: [Int32] = [-1, -1]
      guard pipe(&ends) == 0 else {
        throw StartFailure("no pipe can be made: \(String(cString: strerror(errno)))")
      }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      // Neither end may lie where the child's own descriptors go.
      (reading, writing) = (Self.raised(ends[0]), Self.raised(ends[1]))
    }

    private static func raised(_ descriptor: Int32) -> Int32 {
      guard descriptor <= answerDescriptor else { return descriptor }
      let higher = fcntl(descriptor, F_DUPFD_CLOEXEC, answerDescriptor + 1)
      guard higher >= 0 else { return descriptor }
      Glibc.close(descriptor)
      return higher
    }

    mutating func closeWriting() {
      if writing >= 0 { Glibc.close(writing) }
      writing = -1
    }

    mutating func read(into bytes: inout [UInt8]) {
      var buffer = [UInt8](repeating: 0, count: 1 << 14)
      let count = Glibc.read(reading, &buffer, buffer.count)
      if count > 0 { bytes += buffer.prefix(count) }
      if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) { isOpen = false }
    }

    func close() {
      if writing >= 0 { Glibc.close(writing) }
      Glibc.close(reading)
    }
  }
}
