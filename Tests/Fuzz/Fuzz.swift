import FuzzTargets
import Glibc

/// libFuzzer's entry for programs with a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer's own mutations of bytes; returns the new number of bytes, at most `largest`.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ largest: Int) -> Int

/// Called by libFuzzer for each new input: every fourth is mutated as bytes, the others according to the fuzz target's
/// grammar.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ largest: Int, _ seed: UInt32) -> Int {
  let bytes = UnsafeRawBufferPointer(start: data, count: size)
  let result: [UInt8]? =
    seed % 4 == 0
    ? nil
    : fuzzTarget.mutated(bytes, seed: UInt64(seed)) { leaf in
      let room = max(leaf.count + 16, 32)
      return [UInt8](unsafeUninitializedCapacity: room) { target, count in
        guard let base = target.baseAddress else { return }
        base.update(from: leaf, count: leaf.count)
        count = mutateBytes(base, leaf.count, room)
      }
    }
  guard let result, result.count <= largest else { return mutateBytes(data, size, largest) }
  data.update(from: result, count: result.count)
  return result.count
}

/// The target of the callback, which cannot capture values.
nonisolated(unsafe) private var fuzzTarget = FuzzTarget.all[0]

/// `Fuzz TARGET [libFuzzer's options and corpora]`; `Fuzz --list` prints the fuzz targets and their longest inputs;
/// `Fuzz --seeds TARGET FOLDER` writes a target's seeds.
@main struct Fuzz {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    switch arguments.first {
    case "--list": for fuzzTarget in FuzzTarget.all { print(fuzzTarget.name, fuzzTarget.longest) }
    case "--seeds":
      guard arguments.count == 3, let fuzzTarget = find(arguments[2]) else { exit(64) }
      writeSeeds(of: fuzzTarget, to: arguments[3])
    case .some(let first):
      // To merge, libFuzzer starts this program again, with its own options only.
      let isAgain = first.hasPrefix("-")
      let name = isAgain ? getenv(variable).map { String(cString: $0) } ?? "" : first
      guard let chosen = find(name) else { exit(64) }
      setenv(variable, name, 1)
      fuzzTarget = chosen
      exit(fuzz(optionsFrom: isAgain ? 1 : 2))
    case nil: exit(64)
    }
  }

  /// The variable that names the target to programs that libFuzzer starts.
  private static let variable = "KELVIN_FUZZ_TARGET"

  private static func find(_ name: String) -> FuzzTarget? { FuzzTarget.all.first { $0.name == name } }

  private static func writeSeeds(of fuzzTarget: FuzzTarget, to folder: String) {
    for (number, seed) in fuzzTarget.seeds().enumerated() {
      guard let file = fopen("\(folder)/seed-\(number)", "w") else { exit(1) }
      fwrite(seed, 1, seed.count, file)
      fclose(file)
    }
  }

  private static func fuzz(optionsFrom first: Int) -> CInt {
    let arguments = CommandLine.unsafeArgv
    var rest = ([arguments[0]] + (first..<Int(CommandLine.argc)).map { arguments[$0] } + [nil])
    return rest.withUnsafeMutableBufferPointer { rest in
      guard var start = rest.baseAddress else { return 1 }
      var count = CInt(rest.count - 1)
      return runDriver(&count, &start) { data, size in
        fuzzTarget.feed(UnsafeRawBufferPointer(start: data, count: size))
        return 0
      }
    }
  }
}
