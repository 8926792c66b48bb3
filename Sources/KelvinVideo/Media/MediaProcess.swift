import Glibc
import KelvinBasics
import Synchronization

/// A running ffmpeg or ffprobe. It is killed with the last reference.
///
/// It has a process group of its own, because an interrupt from the terminal is for this process to handle. If this
/// process is killed, the closed pipes end it.
final class MediaProcess: Sendable {
  /// The way in which the process ended.
  enum Ending: Hashable {
    case status(Int32)
    case signal(Int32)
    case unknown
  }

  private enum State {
    case running(pid_t)
    case ended(Ending)
  }

  let tool: MediaTool
  private let state: Mutex<State>

  /// Starts a program without a shell. It inherits only the given descriptors. Without one, standard input is empty.
  ///
  /// - Parameters:
  ///   - tool: The program, which is searched in `PATH`.
  ///   - arguments: Its arguments, without its name.
  ///   - streams: Descriptors of this process, each with the number that the program sees.
  init(
    _ tool: MediaTool, _ arguments: [String], streams: [(descriptor: Descriptor, number: Int32)]
  ) throws(VideoError) {
    let program = try tool.path()
    var process: pid_t = 0
    let code = Self.spawn(program, [tool.rawValue] + arguments, streams, &process)
    guard code == 0 else {
      throw VideoError(.toolFailed, "'\(program)' cannot be started: \(String(cString: strerror(code)))")
    }
    self.tool = tool
    state = Mutex(.running(process))
  }

  deinit {
    kill()
    _ = wait()
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ streams: [(descriptor: Descriptor, number: Int32)],
    _ process: inout pid_t
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for number in 0..<3 as Range<Int32> where !streams.contains(where: { $0.number == number }) {
      posix_spawn_file_actions_addopen(&actions, number, "/dev/null", number == 0 ? O_RDONLY : O_WRONLY, 0)
    }
    for stream in streams { posix_spawn_file_actions_adddup2(&actions, stream.descriptor.value, stream.number) }
    let highest = max(2, streams.map(\.number).max() ?? 0)
    for number in inherited() where number > highest { posix_spawn_file_actions_addclose(&actions, number) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
    let strings = arguments.map { strdup($0.pathBytes) } + [nil]
    defer { strings.forEach { free($0) } }
    return posix_spawn(&process, program.pathBytes, &actions, &attributes, strings, environ)
  }

  /// The descriptors that libraries opened to be inherited.
  private static func inherited() -> [Int32] {
    guard let folder = opendir("/proc/self/fd") else { return [] }
    defer { closedir(folder) }
    var numbers: [Int32] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) }
      guard let number = Int32(name), case let flags = fcntl(number, F_GETFD), flags & FD_CLOEXEC == 0 else { continue }
      numbers.append(number)
    }
    return numbers
  }

  /// Kills the program and its descendants. A program that has ended keeps its status.
  func kill() {
    state.withLock { state in
      guard case .running(let process) = state else { return }
      if Glibc.kill(-process, SIGKILL) != 0 { _ = Glibc.kill(process, SIGKILL) }
    }
  }

  /// Waits for the end of the program, once; later calls return the same.
  func wait() -> Ending {
    guard case .running(let process) = state.withLock({ $0 }) else { return ending }
    // The process stays a zombie during this call, so that its number cannot belong to another one in `kill`.
    var information = siginfo_t()
    while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
    return state.withLock { state in
      if case .ended(let ending) = state { return ending }
      var status: Int32 = 0
      var reaped = waitpid(process, &status, 0)
      while reaped < 0, errno == EINTR { reaped = waitpid(process, &status, 0) }
      let ending: Ending =
        reaped != process ? .unknown : status & 0x7F != 0 ? .signal(status & 0x7F) : .status(status >> 8 & 0xFF)
      state = .ended(ending)
      return ending
    }
  }

  private var ending: Ending { state.withLock { if case .ended(let ending) = $0 { ending } else { .unknown } } }
}

extension MediaProcess.Ending {
  /// The words after the name of the program.
  var description: String {
    switch self {
    case .status(let code): "ended with status \(code)"
    case .signal(let number): "was ended by signal \(number) (\(String(cString: strsignal(number))))"
    case .unknown: "ended"
    }
  }
}

/// Messages of a program, of which the last ones are kept.
struct MediaMessages {
  private static let longestLine = 600
  /// The number of lines so far.
  private(set) var count = 0
  /// The first line with words; empty before it.
  private(set) var first = ""
  /// The last line with words; empty before the first.
  private(set) var last = ""
  /// A line without its end.
  private var rest: [UInt8] = []
  /// Whether a line says that there is no space left.
  private(set) var saysNoSpace = false

  /// Whether there is a message.
  var isEmpty: Bool { count == 0 }

  /// The last message after a colon and a space; empty if there is none.
  var quoted: String { last.isEmpty ? "" : ": \(last)" }

  /// Adds what a descriptor has, without waiting.
  ///
  /// - Returns: false after the end.
  mutating func read(from descriptor: Descriptor) -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    while true {
      switch piece.withUnsafeMutableBytes({ descriptor.read(into: $0) }) {
      case .bytes(let count): add(piece.prefix(count))
      case .nothingYet: return true
      case .end:
        endLine()
        return false
      }
    }
  }

  mutating func add(_ bytes: some Collection<UInt8>) {
    for byte in bytes {
      if byte == 0x0A || byte == 0x0D { endLine() } else if rest.count < Self.longestLine { rest.append(byte) }
    }
  }

  private mutating func endLine() {
    // `[h264 @ 0x5581c3a0]` names the part of ffmpeg and an address.
    var line = rest[...]
    if line.first == UInt8(ascii: "["), let end = line.firstIndex(of: UInt8(ascii: "]")) {
      line = line[(end + 1)...].drop { $0 == 0x20 }
    }
    let text = String(pathBytes: line)
    rest = []
    // Times that go back are no error: raw frames have none, and the times come through another pipe.
    guard text.utf8.contains(where: { $0 > 0x20 }), !text.contains("non monotonically increasing dts") else { return }
    count += 1
    // The user and the password of a URL are not repeated.
    last =
      text.contains("://")
      ? text.split(separator: " ").map { SourceName.shown(String($0)) }.joined(separator: " ") : text
    if count == 1 { first = last }
    if text.contains(String(cString: strerror(ENOSPC))) { saysNoSpace = true }
  }
}

/// A run of a program to its end.
struct MediaRun {
  let ending: MediaProcess.Ending
  /// Standard output.
  let output: [UInt8]
  let messages: MediaMessages

  /// Whether the program ended as it does without an error.
  var isSuccess: Bool { ending == .status(0) }

  /// Runs a program until it ends.
  ///
  /// - Parameters:
  ///   - isQuiet: Whether the program writes errors only.
  ///   - longest: The largest number of bytes of standard output.
  ///   - timeout: The time limit; nil for none.
  /// - Throws: ``VideoError``: `toolMissing`; `toolFailed` for more output; `silent` after the time limit.
  init(
    _ tool: MediaTool, _ arguments: [String], isQuiet: Bool = true, longest: Int = 4 << 20, timeout: Duration?,
    cancel: CancelSignal? = nil
  ) throws(VideoError) {
    guard let outputs = Descriptor.pipe(), let errors = Descriptor.pipe() else {
      throw VideoError(.toolFailed, "there are no descriptors for a pipe to \(tool.rawValue)")
    }
    let process = try MediaProcess(
      tool, (isQuiet ? tool.quietly : []) + arguments, streams: [(outputs.writing, 1), (errors.writing, 2)])
    outputs.writing.close()
    errors.writing.close()
    let cancel = cancel ?? CancelSignal()
    let deadline = timeout.map { ContinuousClock.now + $0 }
    var (output, messages): ([UInt8], _) = ([], MediaMessages())
    var isOpen = (output: true, errors: true)
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while isOpen.output || isOpen.errors {
      let open = (isOpen.output ? [outputs.reading] : []) + (isOpen.errors ? [errors.reading] : [])
      guard cancel.wait(reading: open, until: deadline) else {
        process.kill()
        throw VideoError(
          .silent, "\(tool.rawValue) did not answer within \(HumanReadable.seconds(timeout?.inSeconds))")
      }
      if cancel.isSet {
        process.kill()
        break
      }
      if isOpen.errors { isOpen.errors = messages.read(from: errors.reading) }
      reading: while isOpen.output {
        switch piece.withUnsafeMutableBytes({ outputs.reading.read(into: $0) }) {
        case .bytes(let count): output += piece.prefix(count)
        case .nothingYet: break reading
        case .end: isOpen.output = false
        }
        guard output.count <= longest else {
          process.kill()
          throw VideoError(.toolFailed, "the answer of \(tool.rawValue) has more than \(longest) bytes")
        }
      }
    }
    ending = process.wait()
    (self.output, self.messages) = (output, messages)
  }
}
