internal import CKelvinShaders
internal import KelvinDevices
internal import KelvinGPU

/// A kernel: its program, the macros that select the program's variant, and its function.
struct KernelName: Hashable, Sendable {
  var program: String
  var defines: [String] = []
  /// The floats that are stored as float16; nil for none.
  var halves: HalfStorageMode?
  var function: String

  /// The macro that makes a kernel's result float32 even if floats are stored as float16.
  static let parts = "PARTS"
  var makesParts: Bool { defines.contains(Self.parts) }
}

/// A variant of the convolution kernel.
struct ConvolutionVariant: Hashable, Sendable {
  /// Whether the input's channels are in planes.
  var isPlanar: Bool
  /// The output pixels and blocks of channels that one work item computes.
  var pixels: Int
  var blocks: Int

  static func planar(_ tuning: Tuning) -> Self { Self(isPlanar: true, pixels: tuning.pixels, blocks: 2) }
  static func narrow(_ tuning: Tuning) -> Self { Self(isPlanar: false, pixels: tuning.pixels, blocks: 1) }
  static func wide(_ tuning: Tuning) -> Self { Self(isPlanar: false, pixels: tuning.pixels, blocks: 2) }
  static let vector = Self(isPlanar: false, pixels: 1, blocks: 4)

  /// - Parameter codes: the layout of quantized weights; nil for floats.
  func kernel(_ codes: QuantizedOperand?) -> KernelName {
    let suffix = "\(isPlanar ? "planar" : "blocked")_\(pixels)x\(blocks)"
    let sizes = ["VARIANT=\(suffix)", "PIXELS=\(pixels)", "BLOCKS=\(blocks)", "PLANAR=\(isPlanar ? 1 : 0)"]
    return KernelName(
      program: "convolution",
      defines: sizes + (codes.map { ["CODE_BITS=\($0.bits)", "MEANING=\($0.meaning)"] } ?? []),
      function: "convolution_\(suffix)")
  }
}

extension HalfStorageMode {
  /// The macro that selects a program's float16 variant.
  var define: String {
    switch self {
    case .all, .operands: "HALF"
    case .weights: "HALF_PACKED"
    }
  }

  /// The macros by which a program with the variant declares floats (`prelude.cl`, `dialect.cl`).
  fileprivate var elements: [String] {
    switch self {
    case .all: ["STORED", "FLOAT_RESULT"]
    case .operands: [KernelName.parts]
    case .weights: ["PACKED"]
    }
  }
}

/// Every file under `Shaders/opencl` and `Shaders/shared`.
private let files: [(name: String, text: String)] = {
  var count = 0
  let sources = UnsafeBufferPointer(start: kelvin_opencl_sources(&count), count: count)
  return sources.map { (String(cString: $0.name), String(cString: $0.text)) }
}()

/// The programs that have a variant for floats stored as float16.
let programsByForm: [HalfStorageMode: Set<String>] = Dictionary(
  uniqueKeysWithValues: HalfStorageMode.allCases.map { form in
    (form, Set(files.filter { file in form.elements.contains(where: file.text.contains) }.map(\.name)))
  })

/// The digest of the source code of all programs.
let sourceDigest = Digest(files.map(\.text).joined())

/// Returns the source code of a program: the prelude, then its files.
///
/// - Returns: nil if there is no such program.
func programSource(_ program: String) -> String? {
  guard let prelude = file("prelude"), let own = ownSource(program) else { return nil }
  return prelude + own
}

/// Returns the source code of several programs in one, each with its macros. A compiler takes longer to parse its own
/// headers than to compile most programs.
///
/// - Parameter keys: programs that can be joined, of which no two declare the same names.
func joinedSource(_ keys: [KernelName]) -> String? {
  guard var text = file("prelude") else { return nil }
  for key in keys {
    guard let own = ownSource(key.program) else { return nil }
    let macros = key.defines.map { $0.split(separator: "=", maxSplits: 1) }
    text += macros.map { "#define \($0[0]) \($0.count > 1 ? $0[1] : "1")\n" }.joined()
    text += own + "\n" + macros.map { "#undef \($0[0])\n" }.joined()
  }
  return text
}

extension KernelName {
  /// Files that declare their names once, or only macros if no weights are quantized.
  private static let repeatable: Set = ["variant", "meanings", "codes", "dialect", "scaling"]

  /// Whether the program can be joined with others: it declares no names that they declare, and uses the prelude
  /// unchanged.
  var canBeJoined: Bool {
    halves == nil && !defines.contains { $0.hasPrefix("CODE_BITS=") }
      && includedFiles(program).allSatisfy(Self.repeatable.contains)
  }

  /// Whether every name that the program declares contains the name of its variant.
  private var isNamed: Bool { defines.contains { $0.hasPrefix("VARIANT=") } }

  /// Returns the programs that can be joined, in groups within which no name is declared twice. The groups do not
  /// depend on the order of `keys`.
  static func joined(_ keys: [KernelName]) -> [[KernelName]] {
    var groups: [[KernelName]] = []
    let joinable = keys.filter(\.canBeJoined)
    for key in joinable.sorted(by: { ($0.program, $0.defines.joined()) < ($1.program, $1.defines.joined()) }) {
      if let place = groups.firstIndex(where: { key.isNamed || !$0.contains { $0.program == key.program } }) {
        groups[place].append(key)
      } else {
        groups.append([key])
      }
    }
    return groups
  }
}

private func file(_ name: String) -> String? { kelvin_opencl_source(name).map { String(cString: $0) } }

/// The files that a program includes, in order. Programs of `Shaders/shared` begin with the dialect.
private func includedFiles(_ program: String) -> [String] {
  guard let own = file(program) else { return [] }
  let lines = lines(own)
  let isShared = lines.contains { $0.starts(with: "ENTRY(".utf8) }
  return (isShared ? ["dialect"] : []) + lines.compactMap(includedFile)
}

/// The lines of a source as bytes: splitting by characters takes milliseconds of a start.
private func lines(_ source: String) -> [Substring.UTF8View] {
  source.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
}

/// Returns the name of the file that a line includes, without its extension.
private func includedFile(_ line: Substring.UTF8View) -> String? {
  guard line.starts(with: "#include \"".utf8) else { return nil }
  return String(Substring(line.dropFirst(10).prefix { $0 != UInt8(ascii: ".") }))
}

/// Returns a program's source code without the prelude. No driver resolves an `#include`.
private func ownSource(_ program: String) -> String? {
  file(program).map { own in
    includedFiles(program).compactMap(file).joined()
      + lines(own).filter { includedFile($0) == nil }.map(Substring.init).joined(separator: "\n")
  }
}
