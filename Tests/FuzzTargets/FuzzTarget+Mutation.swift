import KelvinBasics

extension FuzzTarget {
  /// Returns another input, mutated according to the target's grammar; nil if the bytes do not match the grammar.
  ///
  /// - Parameter leaf: mutates the bytes of a string or of packed numbers.
  package func mutated(
    _ bytes: UnsafeRawBufferPointer, seed: UInt64, leaf: ([UInt8]) -> [UInt8]
  ) -> [UInt8]? {
    switch grammar {
    case .bytes: return nil
    case .json:
      var mutator = JSONMutator(seed: seed)
      return mutator.mutated(bytes)
    case .wire:
      var mutator = WireMutator(seed: seed)
      return mutator.mutated(bytes, leaf: leaf)
    }
  }

  /// Returns one of the seeds, mutated: three of four according to the target's grammar, the others as bytes. The same
  /// number gives the same input.
  package func trial(_ number: Int, of seeds: [[UInt8]]) -> [UInt8] {
    var random = SeededGenerator(seed: UInt64(number))
    let original = seeds[random.index(below: seeds.count)]
    let seed = random.next()
    func bytes(_ original: [UInt8]) -> [UInt8] {
      var mutator = ByteMutator(seed: seed)
      return mutator.mutated(original)
    }
    let changed =
      random.index(below: 4) == 0
      ? nil : original.withUnsafeBytes { mutated($0, seed: seed, leaf: bytes) }
    return Array((changed ?? bytes(original)).prefix(longest))
  }
}
