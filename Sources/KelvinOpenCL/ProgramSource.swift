internal import CKelvinShaders
internal import KelvinDevices
internal import KelvinGPU

/// A kernel: the program it is in, the macros that make the program's variant, and its function.
struct KernelName: Hashable, Sendable {
  var program: String
  var defines: [String] = []
  /// Which of its floats lie as float16; nil for none.
  var halves: HalfStorageMode?
  var function: String

  /// The kernel of a function of elements: of that alone where all of them are long to compile.
  static func elementwise(_ program: String, _ code: UInt32, _ tuning: Tuning) -> KernelName {
    guard tuning.compilesFunctionsAlone else { return KernelName(program: program, function: program) }
    return KernelName(program: program, defines: ["VARIANT=\(code)"], function: "\(program)_\(code)")
  }

  /// The macro by which a kernel's result is float32 whatever lies as float16.
  static let parts = "PARTS"
  var makesParts: Bool { defines.contains(Self.parts) }
}

/// A variant of the convolution kernel.
struct ConvolutionVariant: Hashable, Sendable {
  /// Whether the input's channels lie in planes.
  var isPlanar: Bool
  /// Output pixels and blocks of channels that one work item computes.
  var pixels: Int
  var blocks: Int

  static func planar(_ tuning: Tuning) -> Self { Self(isPlanar: true, pixels: tuning.pixels, blocks: 2) }
  static func narrow(_ tuning: Tuning) -> Self { Self(isPlanar: false, pixels: tuning.pixels, blocks: 1) }
  static func wide(_ tuning: Tuning) -> Self { Self(isPlanar: false, pixels: tuning.pixels, blocks: 2) }
  static let vector = Self(isPlanar: false, pixels: 1, blocks: 4)

  /// - Parameter codes: what the weights are where they are no floats.
  func kernel(_ codes: QuantizedOperand?) -> KernelName {
    let suffix = "\(isPlanar ? "planar" : "blocked")_\(pixels)x\(blocks)"
    let sizes = ["VARIANT=\(suffix)", "PIXELS=\(pixels)", "BLOCKS=\(blocks)", "PLANAR=\(isPlanar ? 1 : 0)"]
    return KernelName(
      program: "convolution",
      defines: sizes + (codes.map { ["CODE_BITS=\($0.bits)", "MEANING=\($0.meaning)"] } ?? []),
      function: "convolution_\(suffix)")
  }
}

/// What programs have in common beyond the prelude, by program.
private let commonFiles = [
  "binary": ["variant"], "convolution": ["variant", "meanings", "codes"], "unary": ["variant"],
  "quantized_binary": ["strided_iteration"], "compare": ["strided_iteration"], "gather_elements": ["strided_iteration"], "integer": ["strided_iteration"],
  "scatter": ["strided_iteration"], "select": ["strided_iteration"], "dequantize": ["scaling"], "quantize": ["scaling"],
  "gather_codes": ["dialect", "meanings"], "linear": ["dialect", "meanings"],
  "arg_reduce_lines": ["dialect", "lines"], "normalize_lines": ["dialect", "lines"],
  "reduce_lines": ["dialect", "lines"], "running_sum_lines": ["dialect", "lines"],
  "softmax_lines": ["dialect", "lines"],
]

extension HalfStorageMode {
  /// The macro that asks a program for it.
  var define: String {
    switch self {
    case .all, .operands: "HALF"
    case .weights: "HALF_PACKED"
    }
  }

  /// By which a program that has it declares floats (`prelude.cl`, `dialect.cl`).
  fileprivate var elements: [String] {
    switch self {
    case .all: ["STORED", "ENTRY"]
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

/// The programs that have a form for floats that lie as float16.
let programsByForm: [HalfStorageMode: Set<String>] = Dictionary(
  uniqueKeysWithValues: HalfStorageMode.allCases.map { form in
    (form, Set(files.filter { file in form.elements.contains(where: file.text.contains) }.map(\.name)))
  })

/// Of the texts of all programs.
let sourceDigest = Digest(files.map(\.text).joined())

/// The text of a program: the prelude, then its files.
///
/// - Returns: nil where there is no such program.
func programSource(_ program: String) -> String? {
  guard let prelude = file("prelude"), let own = ownSource(program) else { return nil }
  return prelude + own
}

/// The text of several programs in one, each with its macros: a compiler takes longer to read its own headers than most of
/// them.
///
/// - Parameter keys: programs that can be joined, no two of them variants that would declare the same names.
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
  /// Files that declare nothing but macros, where no weights are codes.
  private static let repeatable: Set = ["variant", "meanings", "codes"]

  /// Whether the program can be one with others: it declares nothing that they declare and takes the prelude as it is.
  var canBeJoined: Bool {
    halves == nil && !defines.contains { $0.hasPrefix("CODE_BITS=") }
      && (commonFiles[program] ?? []).allSatisfy(Self.repeatable.contains)
  }

  /// Whether all that the program declares is named after what it is a variant of.
  private var isNamed: Bool { defines.contains { $0.hasPrefix("VARIANT=") } }

  /// Those of the programs that can be joined, in groups within which no name is declared twice; the same for any order.
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

/// A program's text without the prelude.
private func ownSource(_ program: String) -> String? {
  file(program).map { own in (commonFiles[program] ?? []).compactMap(file).joined() + own }
}
