import Glibc
import Kelvin
import KelvinBasics
import Synchronization

/// The terminal: results on stdout, everything said about them on stderr. What is printed, said or shown is
/// `printable`, whatever names and texts from outside are in it.
enum Console {
  /// Things said already, so that each note is made once.
  private static let said = Mutex<Set<String>>([])

  /// A reader that went away ends the process quietly, and a file that would outgrow its limit is an error to report
  /// instead of a signal.
  static func prepare() {
    signal(SIGXFSZ, SIG_IGN)
  }

  static let isErrorTerminal = isatty(STDERR_FILENO) == 1

  /// Columns and lines of the terminal behind stderr, as they are now; 80 and 24 where it does not say.
  static var errorWidth: Int { errorSize.ws_col > 0 ? Int(errorSize.ws_col) : 80 }
  static var errorHeight: Int { errorSize.ws_row > 0 ? Int(errorSize.ws_row) : 24 }

  private static var errorSize: winsize {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 ? size : winsize()
  }

  /// Columns for tables: the terminal's, or `COLUMNS`, or 80. Never less than 60.
  static let width: Int = {
    if let text = getenv("COLUMNS"), let columns = Int(String(cString: text)), columns > 0 { return max(columns, 60) }
    var size = winsize()
    if isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return max(Int(size.ws_col), 60)
    }
    return 80
  }()

  /// Writes a line, or lines, to stdout.
  static func print(_ text: String) {
    let text = text.printableLines
    write(text.hasSuffix("\n") ? text : text + "\n", to: STDOUT_FILENO)
  }

  /// Writes lines to stdout, each of which is one whatever is in it.
  static func print(lines: [String]) { print(lines.map(\.printable).joined(separator: "\n")) }

  static func error(_ text: String) {
    Progress.makeWay()
    write("kelvin: error: \(text.printableMessage)\n", to: STDERR_FILENO)
  }

  /// Says why the process ends: whoever says it first, where the way out takes long.
  static func lastError(_ text: String) {
    guard !hasSaidLast.exchange(true, ordering: .acquiringAndReleasing) else { return }
    error(text)
  }

  private static let hasSaidLast = Atomic(false)

  /// Says something once.
  static func note(_ text: String) {
    guard said.withLock({ $0.insert(text).inserted }) else { return }
    Progress.makeWay()
    write("kelvin: note: \(text.printableMessage)\n", to: STDERR_FILENO)
  }

  /// Ends the process. The driver of a device that is out may be at work still: it is not asked to end, which it might
  /// never do, or not survive. Nor is anybody asked where something failed: what ran out of memory may have left a lock
  /// taken, the loader's for one, that ending waits for.
  static func exit(_ code: ExitCode) -> Never {
    if code != .success || ComputeDevice.isAnyOut { _exit(code.rawValue) }
    Glibc.exit(code.rawValue)
  }

  /// Writes a text as it is: what is not the program's own goes through the functions above.
  static func write(_ text: String, to descriptor: Int32) { write(Array(text.utf8), to: descriptor) }

  /// Writes bytes as they are.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    bytes.withUnsafeBufferPointer { bytes in
      var offset = 0
      while offset < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset)
        if count > 0 { offset += count } else if count == 0 || errno != EINTR { break }
      }
      // Results that nobody received are not a success.
      if offset < bytes.count, descriptor == STDOUT_FILENO {
        if errno != EPIPE { error("cannot write to standard output: \(String(cString: strerror(errno)))") }
        exit(.internalFault)
      }
    }
  }
}
