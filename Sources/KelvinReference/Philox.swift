/// The Philox 4×32-10 generator: independent blocks of four random words from a counter and a key.
///
/// Source: Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3 (2011).
package enum Philox {
  package static func block(_ counter: [UInt32], key: [UInt32]) -> [UInt32] {
    var (c, k) = (counter, key)
    for round in 0..<10 {
      if round > 0 { (k[0], k[1]) = (k[0] &+ 0x9E37_79B9, k[1] &+ 0xBB67_AE85) }
      let (first, second) = (c[0].multipliedFullWidth(by: 0xD251_1F53), c[2].multipliedFullWidth(by: 0xCD9E_8D57))
      c = [second.high ^ c[1] ^ k[0], second.low, first.high ^ c[3] ^ k[1], first.low]
    }
    return c
  }
}
