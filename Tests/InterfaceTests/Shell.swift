import Glibc

/// Runs commands in a shell.
enum Shell {
  /// The folder of build products, beside the test runner.
  static let products: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    let runner = String(decoding: buffer.prefix(max(count, 0)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return String(runner[..<(runner.lastIndex(of: "/") ?? runner.startIndex)])
  }()

  /// Runs a command to its end. Returns its status and its output.
  static func run(_ command: String) -> (status: Int32, output: String) {
    guard let pipe = popen(command, "re") else { return (-1, "sh does not start: \(errno)") }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = fread(&buffer, 1, buffer.count, pipe)
      if count == 0 { break }
      output += buffer[..<count]
    }
    let status = pclose(pipe)
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F), String(decoding: output, as: UTF8.self))
  }
}
