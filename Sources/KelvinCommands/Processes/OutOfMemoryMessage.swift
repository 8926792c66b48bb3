import Glibc

/// What a process says that ends because memory ran out in a place that cannot go on without it: the Swift runtime, a
/// driver's compiler. Such an end is one line and a status of its own instead of a signal.
enum OutOfMemoryMessage {
  private static let line: StaticString =
    "kelvin: error: memory ran out: the process was given too little (ulimit -v, ulimit -d), or the machine has no more\n"
  /// Where so much can be had, it was not memory that ended the process: the libraries of others ask for as much at once.
  private static let probe = 128 << 20
  /// The same where a library gave up by itself, which may have let go of what it had by then.
  private static let abortProbe = 512 << 20
  private static let signals = [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP]

  /// Does nothing where the process has no limit: a machine without memory ends it without asking.
  static func prepare() {
    guard hasLimit else { return }
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { OutOfMemoryMessage.speak($0) }
      action.sa_flags = SA_NODEFER
      sigaction(signal, &action, earlier + Int(signal))
    }
  }

  /// By signal, what was done before: a backtrace, a sanitizer's report.
  nonisolated(unsafe) private static let earlier = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 32)
    actions.initialize(repeating: sigaction(), count: 32)
    return actions
  }()

  private static var hasLimit: Bool {
    [RLIMIT_AS, RLIMIT_DATA].contains { resource in
      var bounds = rlimit()
      return getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 && bounds.rlim_cur < .max
    }
  }

  /// Called by a signal: nothing here allocates. What was no lack of memory happens again, and goes its earlier way.
  private static func speak(_ signal: Int32) {
    let probe = signal == SIGABRT ? abortProbe : probe
    let memory = mmap(
      nil, probe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | Int32(MAP_NORESERVE), -1, 0)
    if memory == MAP_FAILED {
      _ = write(STDERR_FILENO, line.utf8Start, line.utf8CodeUnitCount)
      _exit(ExitCode.internalFault.rawValue)
    }
    munmap(memory, probe)
    sigaction(signal, earlier + Int(signal), nil)
  }
}
