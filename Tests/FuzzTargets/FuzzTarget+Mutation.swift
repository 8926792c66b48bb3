import KelvinBasics

extension FuzzTarget {
  /// Another input, changed as what the seam reads; nil where the bytes are nothing of its grammar.
  ///
  /// - Parameter leaf: changes the bytes of a text or of packed numbers.
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

  /// One of the seeds, changed: three of four as what the seam reads, the others as bytes. The same for the same
  /// number.
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
