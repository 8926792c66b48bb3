import Glibc
import Kelvin
import KelvinBasics
import KelvinMeasuring

extension ChildProcess {
  /// Starts this program again.
  ///
  /// - Parameters:
  ///   - controlPipe: The descriptor of the child's standard input.
  ///   - answers: The descriptor to which the child writes its answer.
  ///   - errors: The descriptor of the child's standard error.
  static func spawn(
    _ arguments: [String], _ environment: [String: String], controlPipe: Int32, answers: Int32, errors: Int32
  ) throws(StartFailure) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, controlPipe, STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    posix_spawn_file_actions_adddup2(&actions, answers, answerDescriptor)
    // The child must be interruptible, even if this process blocks signals.
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
      let parts = String(path: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
      entry += 1
    }
    variables.merge(environment) { _, new in new }
    let strings = (["kelvin"] + arguments).map { strdup($0.pathBytes) } + [nil]
    let settings = variables.map { strdup("\($0.key)=\($0.value)".pathBytes) } + [nil]
    defer { (strings + settings).forEach { free($0) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, strings, settings)
    guard code == 0 else {
      throw StartFailure("it cannot be started: \(String(cString: strerror(code)))")
    }
    return process
  }
}
