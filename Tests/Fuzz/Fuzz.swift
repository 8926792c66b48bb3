import Glibc

/// libFuzzer's entry for programs with a main function of their own.
@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
  _ argumentCount: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// libFuzzer's own changes of bytes; answers how many there are then, at most `largest`.
@_silgen_name("LLVMFuzzerMutate")
private func mutateBytes(_ bytes: UnsafeMutablePointer<UInt8>, _ count: Int, _ largest: Int) -> Int

/// Called by libFuzzer for each new input: every fourth is changed as bytes, the others as what the seam reads.
@_cdecl("LLVMFuzzerCustomMutator")
public func mutate(_ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ largest: Int, _ seed: UInt32) -> Int {
  let bytes = UnsafeRawBufferPointer(start: data, count: size)
  let result: [UInt8]?
  switch seed % 4 == 0 ? .bytes : seam.grammar {
  case .bytes: result = nil
  case .json:
    var mutator = JSONMutator(seed: UInt64(seed))
    result = mutator.mutated(bytes)
  case .wire:
    var mutator = WireMutator(seed: UInt64(seed))
    result = mutator.mutated(bytes) { leaf in
      let room = max(leaf.count + 16, 32)
      return [UInt8](unsafeUninitializedCapacity: room) { target, count in
        guard let base = target.baseAddress else { return }
        base.update(from: leaf, count: leaf.count)
        count = mutateBytes(base, leaf.count, room)
      }
    }
  }
  guard let result, result.count <= largest else { return mutateBytes(data, size, largest) }
  data.update(from: result, count: result.count)
  return result.count
}

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
