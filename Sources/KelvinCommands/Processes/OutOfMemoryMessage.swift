import Glibc

/// The error message for running out of memory in code that cannot handle it, such as the Swift runtime or a driver's
/// compiler. The process ends with the message and an exit status instead of a signal.
enum OutOfMemoryMessage {
  private static let line: StaticString =
    "kelvin: error: out of memory: the process has too low a limit (ulimit -v, ulimit -d), or the machine has no more\n"
  /// The size of a test allocation. If it succeeds, a lack of memory did not cause the failure: libraries allocate as
  /// much at once.
  private static let probe = 128 << 20
  /// The size of a test allocation after an abort. It is larger, because the library may have freed memory before it
  /// aborted.
  private static let abortProbe = 512 << 20
  private static let signals = [SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGTRAP]

  /// Installs the signal handlers if the process has a memory limit. Without a limit the kernel kills the process
  /// instead.
  static func prepare() {
    guard hasLimit else { return }
    for signal in signals {
      var action = sigaction()
      action.__sigaction_handler.sa_handler = { OutOfMemoryMessage.speak($0) }
      action.sa_flags = SA_NODEFER
      sigaction(signal, &action, earlier + Int(signal))
    }
  }

  /// The previous signal actions, by signal number, such as a backtrace or a sanitizer's report.
  nonisolated(unsafe) private static let earlier = {
    let actions = UnsafeMutablePointer<sigaction>.allocate(capacity: 32)
    actions.initialize(repeating: sigaction(), count: 32)
    return actions
  }()

  /// Whether `ulimit` bounds the memory of the process.
  static var hasLimit: Bool {
    [RLIMIT_AS, RLIMIT_DATA].contains { resource in
      var bounds = rlimit()
      return getrlimit(__rlimit_resource_t(resource.rawValue), &bounds) == 0 && bounds.rlim_cur < .max
    }
  }

  /// Handles a signal without allocating. If memory is available, the previous action is restored and handles the
  /// repeated fault.
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
