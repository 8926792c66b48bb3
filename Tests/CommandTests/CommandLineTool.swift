import Glibc
import Synchronization
import TestSupport

/// The result of running the tool.
struct ToolResult: Sendable, CustomStringConvertible {
  /// The exit status, or nil where a signal ended it.
  var status: Int32?
  /// The signal that ended it.
  var signal: Int32?
  var output: String
  var errors: String

  /// The lines that report an error.
  var errorLines: [Substring] { errors.split(separator: "\n").filter { $0.hasPrefix("kelvin: error: ") } }

  var description: String {
    "status \(status.map(String.init) ?? "none"), signal \(signal.map(String.init) ?? "none")\n\(errors)"
  }
}

/// The built `kelvin`, run as a process of its own.
enum Kelvin {
  /// The folder of `Package.swift`.
  static let root = String(#filePath.split(separator: "/").dropLast(3).reduce("") { "\($0)/\($1)" })
  static let digits = "\(root)/Examples/Digits/Digits.onnx"
  static let digitsPackage = "\(root)/Examples/Digits/Digits.mlpackage"
  static func image(_ name: String) -> String { "\(root)/Examples/Digits/images/\(name)" }

  /// The tool is in the folder of the test runner.
  static let path: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let runner = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return runner[..<(runner.lastIndex(of: "/") ?? runner.startIndex)] + "/kelvin"
  }()

  /// The folder of the drivers' caches while the tests run.
  private static let home = TemporaryFolder()

  /// Runs the tool to its end, without a cache unless the arguments name one. A run of more than a minute is killed.
  ///
  /// - Parameters:
  ///   - shell: a command for `sh` that runs before the tool, in the same process: `ulimit -f 1`.
  ///   - script: for `sh` to run instead of the tool, which is `"$0"` and its arguments `"$@"`.
  ///   - killAfter: microseconds after which the process is killed.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], shell: String? = nil, script: String? = nil,
    killAfter: Int? = nil
  ) -> ToolResult {
    var variables = ["PATH": "/usr/bin:/bin", "HOME": home.path, "KELVIN_CACHE_DIR": "/proc/no-cache"]
    for name in ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"] {
      variables[name] = getenv(name).map { String(cString: $0) }
    }
    variables.merge(environment) { _, new in new }
    let program = script ?? shell.map { "\($0); exec \"$0\" \"$@\"" }
    let command = program.map { ["/bin/sh", "-c", $0, path] + arguments } ?? [path] + arguments
    return spawn(command, variables, killAfter: killAfter)
  }

  static func run(_ arguments: String...) -> ToolResult { run(arguments) }

  private static func spawn(_ command: [String], _ variables: [String: String], killAfter: Int?) -> ToolResult {
    let started: (process: pid_t, output: Int32, errors: Int32)
    do { started = try spawning.withLock { _ in try start(command, variables) } } catch {
      return ToolResult(output: "", errors: "\(error)")
    }
    if let killAfter {
      usleep(UInt32(killAfter))
      kill(started.process, SIGKILL)
    }
    let (output, errors) = drain(started.output, started.errors, started.process)
    var status: Int32 = 0
    while waitpid(started.process, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7F
    return ToolResult(
      status: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal, output: output,
      errors: errors)
  }

  /// One process is started at a time, so that none inherits the pipes of another.
  private static let spawning = Mutex(())

  private struct SpawnError: Error, CustomStringConvertible {
    let description: String
    init(_ action: String, _ code: Int32) { description = "cannot \(action): \(String(cString: strerror(code)))" }
  }

  /// - Returns: the process and the reading ends of its standard output and standard error.
  private static func start(
    _ command: [String], _ variables: [String: String]
  ) throws -> (process: pid_t, output: Int32, errors: Int32) {
    func makePipe() throws -> [Int32] {
      var ends: [Int32] = [0, 0]
      guard pipe(&ends) == 0 else { throw SpawnError("make a pipe", errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      return ends
    }
    let (outputPipe, errorPipe) = (try makePipe(), try makePipe())
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, outputPipe[1], 1)
    posix_spawn_file_actions_adddup2(&actions, errorPipe[1], 2)
    let arguments = command.map { strdup($0) } + [nil]
    let environment = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { (arguments + environment).forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, command[0], &actions, nil, arguments, environment)
    close(outputPipe[1])
    close(errorPipe[1])
    guard code == 0 else { throw SpawnError("run \(command[0])", code) }
    return (process, outputPipe[0], errorPipe[0])
  }

  /// Reads both pipes until they are closed.
  private static func drain(_ first: Int32, _ second: Int32, _ process: pid_t) -> (String, String) {
    var contents: [Int32: [UInt8]] = [first: [], second: []]
    var open: Set<Int32> = [first, second]
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    // Sanitizers make a process several times as slow.
    let deadline = ContinuousClock.now + .seconds(getenv("KELVIN_SANITIZERS") == nil ? 60 : 600)
    while !open.isEmpty {
      var polled = open.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&polled, UInt(polled.count), 1000)
      if ContinuousClock.now > deadline { kill(process, SIGKILL) }
      for entry in polled where entry.revents != 0 {
        let count = read(entry.fd, &buffer, buffer.count)
        if count > 0 { contents[entry.fd]?.append(contentsOf: buffer.prefix(count)) }
        if count == 0 || (count < 0 && errno != EINTR) {
          open.remove(entry.fd)
          close(entry.fd)
        }
      }
    }
    func text(_ pipe: Int32) -> String { String(decoding: contents[pipe] ?? [], as: UTF8.self) }
    return (text(first), text(second))
  }
}
