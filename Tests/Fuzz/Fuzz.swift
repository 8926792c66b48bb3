import Glibc

/// libFuzzer's entry for programs with a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// What the callback, which can capture nothing, feeds.
nonisolated(unsafe) private var seam = seams[0]

/// `Fuzz SEAM [libFuzzer's options and corpora]`; `Fuzz --list` prints the seams.
@main struct Fuzz {
  static func main() {
    let names = seams.map(\.name)
    guard CommandLine.argc > 1, let chosen = seams.first(where: { $0.name == CommandLine.arguments[1] }) else {
      for name in names { print(name) }
      exit(CommandLine.arguments.dropFirst().first == "--list" ? 0 : 64)
    }
    seam = chosen
    let arguments = CommandLine.unsafeArgv
    var rest = ([arguments[0]] + (2..<Int(CommandLine.argc)).map { arguments[$0] } + [nil])
    rest.withUnsafeMutableBufferPointer { rest in
      guard var start = rest.baseAddress else { return }
      var count = CInt(rest.count - 1)
      exit(
        runDriver(&count, &start) { data, size in
          seam.feed(UnsafeRawBufferPointer(start: data, count: size))
          return 0
        })
    }
  }
}
