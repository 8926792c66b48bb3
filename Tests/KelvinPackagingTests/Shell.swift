import Glibc

/// Other programs that make and check archives.
enum Shell {
  static let hasPython = run("python3 --version").status == 0
  static let hasOpenSSL = run("openssl version").status == 0
  static let hasTar = run("tar --version && zstd --version").status == 0

  /// Runs a command to its end. Returns its status and its output.
  static func run(_ command: String) -> (status: Int32, output: String) {
    guard let pipe = popen("{\n\(command)\n} 2>&1", "re") else { return (-1, "sh does not start: \(errno)") }
    var output: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 14)
    while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { output += buffer[..<count] }
    let status = pclose(pipe)
    return (status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F), String(decoding: output, as: UTF8.self))
  }
}

/// Returns the bytes of hexadecimal digits.
func bytes(_ digits: String) -> [UInt8] {
  let digits = Array(digits)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...$0 + 1]), radix: 16) ?? 0 }
}
