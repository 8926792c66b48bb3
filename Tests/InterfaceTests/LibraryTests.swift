import Glibc
import TestSupport
import Testing

/// The C library as programs and Python use it: built, linked and called from outside.
@Suite struct LibraryTests {
  private static let root = SharedFiles.projectRoot
  private static let library = "\(Shell.products)/libKelvinC.so"
  private static let digits = "\(root)/Examples/Digits/Digits.mlpackage"
  private static let network = "\(root)/Examples/Digits/Digits.onnx"
  /// The sanitizers of the library's build (`dev/sanitize.sh`), which a process that loads the library needs too.
  private static let sanitizers = getenv("KELVIN_SANITIZERS").map { String(cString: $0) }

  /// Builds a program against the library and runs it. Returns its status and its output.
  private func run(
    _ source: String, _ arguments: String, compiler: String = "clang", flags: String = ""
  ) -> (status: Int32, output: String) {
    let folder = TemporaryFolder()
    var flags = Self.sanitizers.map { "\(flags) -g -fuse-ld=lld -fsanitize=\($0)" } ?? flags
    // The thread sanitizer that comes with Swift knows Swift's queues, and cannot be linked without them.
    if Self.sanitizers == "thread" {
      let queues = "$(dirname $(readlink -f $(command -v swift)))/../lib/swift/linux"
      flags += " -L\"\(queues)\" -Wl,-rpath,\"\(queues)\" -ldispatch -lBlocksRuntime"
    }
    let link =
      "ln -s '\(Self.library)' '\(folder.path)/libkelvin.so.0' && ln -s libkelvin.so.0 '\(folder.path)/libkelvin.so'"
    let build =
      "\(compiler) -Wall -Wextra -Werror -O1 \(flags) -I'\(Self.root)/Sources/CKelvin/include' '\(Self.root)/\(source)' "
      + "-L'\(folder.path)' -lkelvin -pthread -Wl,-rpath,'\(folder.path)' -o '\(folder.path)/program'"
    let call = "KELVIN_CACHE_DIR='\(folder.path)/cache' '\(folder.path)/program' \(arguments)"
    return Shell.run("{ \(link) && \(build) && \(call); } 2>&1")
  }

  @Test func everyWrongCallHasACodeAndMessage() {
    let result = run("Tests/Interface/hostile.c", "'\(Self.digits)' '\(Self.network)'")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(.slow, .enabled(if: sanitizers != "thread", "the library has ThreadSanitizer, which goes with no other"))
  func wrongCallsPassAddressSanitizer() {
    let result = run(
      "Tests/Interface/hostile.c", "'\(Self.digits)' '\(Self.network)'",
      flags: "-g -fuse-ld=lld -fsanitize=address,undefined")
    #expect(result.status == 0, "\(result.output)")
  }

  @Test(arguments: Tier.some(1, of: ["", "-g -fuse-ld=lld -fsanitize=address,undefined"]))
  func framesOfEveryFormatAreReadInPlace(flags: String) {
    // The library has ThreadSanitizer then, which excludes other sanitizers.
    if Self.sanitizers == "thread", !flags.isEmpty { return }
    let result = run(
      "Tests/Interface/frames.c", "'\(Self.digits)' '\(Self.root)/Examples/Digits/images/7_0043.png'", flags: flags)
    #expect(result.status == 0, "\(result.output)")
  }

  @Test func cExampleClassifiesAnImage() {
    let result = run("Examples/C/classify.c", "'\(Self.digits)' '\(Self.root)/Examples/Digits/images/7_0043.png'")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.split(separator: "\n").first?.hasSuffix("seven") == true, "\(result.output)")
  }

  @Test(.slow) func cExampleClassifiesVideoFrames() {
    // Two frames alike, another, and the beginning of a fourth.
    let bytes = 71 * 69 + 72 * 35
    let folder = TemporaryFolder()
    let frames = "\(folder.path)/frames.nv12"
    let written = Shell.run(
      "{ head -c \(2 * bytes) /dev/zero; head -c \(bytes) /dev/zero | tr '\\000' '\\200'; echo; } > '\(frames)'")
    #expect(written.status == 0, "\(written.output)")
    let result = run("Examples/C/video.c", "'\(Self.digits)' image 71 69 < '\(frames)'")
    #expect(result.status == 0, "\(result.output)")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
    #expect(lines.count == 3 && lines[0] == lines[1] && lines[1] != lines[2], "\(result.output)")
  }

  @Test(.slow) func cPlusPlusExamplePredictsFromFourThreads() {
    let result = run("Examples/C/threads.cpp", "'\(Self.network)'", compiler: "clang++ -std=c++17")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("equal scores"), "\(result.output)")
  }

  @Test func libraryExportsExactlyTheHeaderFunctions() {
    let exported = Shell.run(
      "nm -D --defined-only '\(Self.library)' | awk '{ print $3 }' | sed 's/@.*//' | grep -v '^KELVIN_0$'")
    let declared = Shell.run("grep -o 'kelvin_[a-z0-9_]*(' '\(Self.root)/Sources/CKelvin/include/kelvin.h' | tr -d '('")
    let names = Set(declared.output.split(separator: "\n"))
    #expect(Set(exported.output.split(separator: "\n")) == names)
    #expect(names.count > 40)
  }

  @Test(.enabled(if: sanitizers != "thread", "for ThreadSanitizer, Swift's libraries stay apart"))
  func libraryNeedsOnlySystemLibraries() {
    let needed = Shell.run("objdump -p '\(Self.library)' | awk '/NEEDED/ { print $2 }'").output.split(separator: "\n")
    let allowed: Set = ["libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"]
    #expect(Set(needed.map(String.init)).subtracting(allowed).isEmpty, "\(needed)")
  }

  private static let hasNumPy = Shell.run("python3 -c 'import numpy' 2>&1").status == 0

  @Test(
    .slow, .enabled(if: hasNumPy, "python3 has no numpy"), .enabled(if: sanitizers == nil, "python3 has no sanitizers"),
    arguments: ["rm -f kelvin/_calls.abi3.so", "'\(root)/dev/package/calls.sh' \"$PWD/kelvin/_calls.abi3.so\""])
  func pythonTestsPassWithAndWithoutTheCExtension(preparing: String) {
    let folder = TemporaryFolder()
    let result = Shell.run(
      "{ cd '\(folder.path)' && cp -r '\(Self.root)/Python/kelvin' '\(Self.root)/Python/_kelvin_coremltools.py' . && "
        + "\(preparing) && "
        + "KELVIN_CACHE_DIR='\(folder.path)/cache' KELVIN_LIBRARY='\(Self.library)' "
        + "PYTHONPATH=\"$PWD\" PYTHONDONTWRITEBYTECODE=1 "
        + "python3 -m unittest discover -s '\(Self.root)/Tests/Python'; } 2>&1")
    #expect(result.status == 0, "\(result.output)")
  }
}
