/// A small random generator whose sequence is fixed by its seed on every platform (SplitMix64).
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns a number uniform in `0..<1`.
  package mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a number uniform in `-1..<1`.
  package mutating func signedUnit() -> Float { Float(Double(next() >> 11) * 0x1p-52 - 1) }

  /// Returns an integer uniform in `0..<bound`; the bias of the multiply method is below 2⁻³² for the sizes used
  /// here.
  package mutating func index(below bound: Int) -> Int {
    Int(next().multipliedFullWidth(by: UInt64(bound)).high)
  }
}
