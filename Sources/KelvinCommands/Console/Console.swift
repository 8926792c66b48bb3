import Glibc
import Kelvin
import KelvinBasics
import Synchronization

/// The terminal: results on stdout, messages on stderr. Control characters in names and strings from outside are
/// escaped (`printable`), except by the functions that write raw output.
enum Console {
  /// The notes printed so far, so that each is printed once.
  private static let said = Mutex<Set<String>>([])

  /// Ignores `SIGXFSZ`, so that exceeding the file size limit is an error rather than a signal. `SIGPIPE` keeps its
  /// default action, which ends the process without a message.
  static func prepare() {
    signal(SIGXFSZ, SIG_IGN)
  }

  static let isErrorTerminal = isatty(STDERR_FILENO) == 1
  static let isOutputTerminal = isatty(STDOUT_FILENO) == 1

  /// Lets the process go on when the reader of standard output has closed it, for a command that completes files.
  static func outlastReader() {
    signal(SIGPIPE, SIG_IGN)
    outlastsReader.store(true, ordering: .releasing)
  }

  /// Whether the reader of standard output has closed it, after `outlastReader`.
  static var isOutputClosed: Bool { hasLostReader.load(ordering: .acquiring) }

  private static let outlastsReader = Atomic(false)
  private static let hasLostReader = Atomic(false)

  /// The size of the terminal behind stderr in columns and lines; 80 and 24 where unknown.
  static var errorWidth: Int { errorSize.ws_col > 0 ? Int(errorSize.ws_col) : 80 }
  static var errorHeight: Int { errorSize.ws_row > 0 ? Int(errorSize.ws_row) : 24 }

  private static var errorSize: winsize {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
  }

  /// The width of tables: `COLUMNS`, the terminal's width, or 80 columns. At least 60.
  static let width: Int = {
    if let text = getenv("COLUMNS"), let columns = Int(String(cString: text)), columns > 0 { return max(columns, 60) }
    var size = winsize()
    if isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return max(Int(size.ws_col), 60)
    }
    return 80
  }()

  /// Writes one or several lines to stdout.
  static func print(_ text: String) {
    let text = text.printableLines
    write(text.hasSuffix("\n") ? text : text + "\n", to: STDOUT_FILENO)
  }

  /// Writes each element to stdout as exactly one line.
  static func print(lines: [String]) { print(lines.map(\.printable).joined(separator: "\n")) }

  static func error(_ text: String) {
    Progress.makeWay()
    write("kelvin: error: \(text.printableMessage)\n", to: STDERR_FILENO)
  }

  /// Prints the error that ends the process, unless another thread has already printed one.
  static func lastError(_ text: String) {
    guard !hasSaidLast.exchange(true, ordering: .acquiringAndReleasing) else { return }
    error(text)
  }

  private static let hasSaidLast = Atomic(false)

  /// Prints a note to stderr, unless it has already been printed.
  static func note(_ text: String) {
    guard said.withLock({ $0.insert(text).inserted }) else { return }
    Progress.makeWay()
    write("kelvin: note: \(text.printableMessage)\n", to: STDERR_FILENO)
  }

  /// Ends the process. `_exit` skips exit handlers in two cases. A driver with a failed device may still be busy and
  /// might block or crash in its handlers. After a failure, such as running out of memory, a lock that the handlers
  /// need may still be held.
  static func exit(_ code: ExitCode) -> Never {
    if code != .success || ComputeDevice.isAnyOut { _exit(code.rawValue) }
    Glibc.exit(code.rawValue)
  }

  /// Writes a string without escaping. Strings from outside must go through the functions above.
  static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

  /// Writes bytes without escaping.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBufferPointer { bytes in
      var offset = 0
      while offset < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
        if count > 0 { offset += count } else if count == 0 || errno != EINTR { break }
      }
      // Failing to deliver results is an error. A closed pipe ends the process without a message.
      if offset < bytes.count, descriptor == STDOUT_FILENO {
        if errno == EPIPE, outlastsReader.load(ordering: .acquiring) {
          return hasLostReader.store(true, ordering: .releasing)
        }
        if errno != EPIPE { error("cannot write to standard output: \(String(cString: strerror(errno)))") }
        exit(.internalFault)
      }
    }
  }
}
