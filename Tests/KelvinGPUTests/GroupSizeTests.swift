import KelvinBasics
import KelvinGPU
import KelvinGraph
import Testing

/// The groups that share keys of attention or the depth of a product: chosen by counts, so that no group works through a
/// long chain of reads while units are idle.
struct GroupSizeTests {
  @Test(arguments: UInt64(0)..<200) func fewGroupsOfAttentionHaveShortChains(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func number(_ bits: Int) -> Int {
      Int.random(in: 1...1 << Int.random(in: 0...bits, using: &random), using: &random)
    }
    let (slabs, steps, groups) = (number(9), number(5), number(10))
    let parts = Attention.parts(slabs: slabs, steps: steps, groups: groups)
    let each = (slabs + parts - 1) / parts
    let origin: Comment = "seed \(seed): \(slabs) slabs of \(steps) steps, \(groups) groups: \(parts) parts"
    #expect(parts == 1 || groups < 264 && slabs * steps > 32, origin)
    #expect(parts * each >= slabs && (parts - 1) * each < slabs, origin)
    #expect(groups >= 264 || each * steps <= 32 || each == 1 || each <= (slabs + 15) / 16, origin)
  }

  /// A decoder's token: twelve heads, and products of one row of GPT-2, large and small.
  @Test func tokenNeedsNoSumOfParts() {
    #expect(Attention.parts(slabs: 1, steps: 9, groups: 12) == 1)
    #expect(Attention.parts(slabs: 8, steps: 9, groups: 12) == 3)
  }

  @Test func fewRowsHaveShortChains() {
    for (depth, columns) in [(768, 768), (3072, 768), (768, 2304), (768, 3072), (4096, 4096), (14336, 4096), (64, 8)] {
      let product = RowProduct(rows: 1, depth: depth, columns: columns, inputStride: depth, outputStride: columns)
      let side = product.columns(ofGroup: 64, rowTile: 1)
      let group = product.invocations(columns: side, atLeast: 64, limit: 1024)
      let steps = (depth / 4 + group / side - 1) / (group / side)
      let groups = (columns + side - 1) / side
      #expect(steps <= 32 || groups >= 264, "\(depth) to \(columns): \(groups) groups of \(group), \(steps) steps")
      #expect(product.invocations(columns: side, atLeast: 64, limit: 64) == 64)
    }
  }
}
