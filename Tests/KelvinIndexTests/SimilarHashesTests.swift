import KelvinBasics
import KelvinIndex
import TestSupport
import Testing

@Suite struct SimilarHashesTests {
  /// Sets of hashes that are hard for a search by equal parts.
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    /// Nothing in common.
    case random
    /// Few bits differ at all, so that most hashes are close to others.
    case fewBits
    /// Multiples of a number, which share their highest and lowest bits.
    case multiples
    /// Each bit four times, so that no two hashes are closer than four bits.
    case repeated
    /// Five bits are set in each hash, so that any part is zero in many.
    case sparse
    /// Some hashes and their neighbours.
    case clusters

    var testDescription: String { rawValue }

    func hashes(_ count: Int, _ random: inout SeededGenerator) -> [UInt64] {
      let places = (0..<64).shuffled(using: &random)
      func spread(_ value: UInt64, _ bits: Int, copies: Int = 1) -> UInt64 {
        (0..<bits * copies).reduce(0) { $0 | (value >> UInt64($1 % bits) & 1) << UInt64(places[$1]) }
      }
      var hashes: Set<UInt64> = []
      for number in 0..<UInt64(count) {
        switch self {
        case .random: hashes.insert(.random(in: .min ... .max, using: &random))
        case .fewBits: hashes.insert(spread(.random(in: .min ... .max, using: &random), 14))
        case .multiples: hashes.insert(number &* 7919 &* 104_729)
        case .repeated: hashes.insert(spread(number, 16, copies: 4))
        case .sparse: hashes.insert(places.shuffled(using: &random).prefix(5).reduce(0) { $0 | 1 << UInt64($1) })
        case .clusters:
          let neighbour = hashes.randomElement(using: &random) ?? 0x0123_4567_89AB_CDEF
          let flips = (0..<Int.random(in: 1...9, using: &random)).map { _ in UInt64.random(in: 0..<64, using: &random) }
          hashes.insert(flips.reduce(neighbour) { $0 ^ 1 << $1 })
        }
      }
      return hashes.shuffled(using: &random)
    }
  }

  private func groups(_ hashes: [UInt64], _ sets: inout DisjointSets) -> [Int] {
    hashes.indices.map { sets.representative($0) }
  }

  @Test(arguments: Kind.allCases, Tier.seeds(2, of: 20 as UInt64))
  func groupsAreThoseOfAllPairs(kind: Kind, seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let distance = Int.random(in: 0...7, using: &random)
    let hashes = kind.hashes(Int.random(in: 0...900, using: &random), &random)
    var expected = DisjointSets(count: hashes.count)
    for a in hashes.indices {
      for b in 0..<a where (hashes[a] ^ hashes[b]).nonzeroBitCount <= distance { expected.join(a, b) }
    }
    var similar = SimilarHashes(distance: distance)
    for (index, hash) in hashes.enumerated() { similar.add(hash, index) }
    var found = DisjointSets(count: hashes.count)
    #expect(similar.join(&found, isCancelled: { false }))
    #expect(groups(hashes, &found) == groups(hashes, &expected), "distance \(distance), seed \(seed)")
  }

  @Test(arguments: Kind.allCases) func fewPairsAreCompared(kind: Kind) {
    var random = SeededGenerator(seed: 1)
    let hashes = kind.hashes(8000, &random)
    var similar = SimilarHashes(distance: 3)
    for (index, hash) in hashes.enumerated() { similar.add(hash, index) }
    var sets = DisjointSets(count: hashes.count)
    #expect(similar.join(&sets, isCancelled: { false }))
    // There are 4,000 pairs for each hash.
    #expect(similar.comparisons < 600 * hashes.count, "\(similar.comparisons) comparisons of \(hashes.count) hashes")
  }

  @Test func cancelledSearchEnds() {
    var random = SeededGenerator(seed: 1)
    var similar = SimilarHashes(distance: 3)
    for (index, hash) in Kind.random.hashes(1000, &random).enumerated() { similar.add(hash, index) }
    var sets = DisjointSets(count: 1000)
    #expect(!similar.join(&sets, isCancelled: { true }))
  }
}
