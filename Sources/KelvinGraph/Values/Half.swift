/// IEEE 754 binary16, as bits. Swift's `Float16` does not exist on every supported Linux platform.
extension Float {
  /// Creates the exact value of a binary16 number.
  package init(halfBits bits: UInt16) {
    let sign = UInt32(bits & 0x8000) << 16
    let exponent = UInt32(bits >> 10) & 0x1F
    let fraction = UInt32(bits & 0x3FF)
    switch exponent {
    case 0: self = Float(bitPattern: sign | 0x3F80_0000) * (Float(fraction) * 0x1p-24)
    case 31: self = Float(bitPattern: sign | 0x7F80_0000 | fraction << 13)
    default: self = Float(bitPattern: sign | (exponent + 112) << 23 | fraction << 13)
    }
  }
}

extension Float {
  /// The nearest binary16 number, ties to even; magnitudes from 65520 become infinity.
  package var halfBits: UInt16 {
    let sign = UInt16(truncatingIfNeeded: bitPattern >> 16) & 0x8000
    let magnitude = bitPattern & 0x7FFF_FFFF
    // Adding 0.5 leaves multiples of 2^-24 in the fraction, rounded. All cases are computed and one is selected, so
    // that loops are vectorized.
    let subnormal = (Float(bitPattern: magnitude) + 0.5).bitPattern &- 0x3F00_0000
    let normal = (magnitude &- 0x3800_0000 &+ 0xFFF &+ (magnitude >> 13 & 1)) >> 13
    let infinite: UInt32 = magnitude > 0x7F80_0000 ? 0x7E00 : 0x7C00
    let finite = magnitude < 0x3880_0000 ? subnormal : normal
    return sign | UInt16(truncatingIfNeeded: magnitude >= 0x4780_0000 ? infinite : finite)
  }
}

extension Float {
  /// The nearest binary16 number; finite numbers stay finite, because magnitudes above 65504 become 65504.
  package var finiteHalfBits: UInt16 { (isFinite ? max(-65504, min(self, 65504)) : self).halfBits }
}

extension Double {
  /// The nearest binary16 number, ties to even; magnitudes from 65520 become infinity.
  package var halfBits: UInt16 {
    let sign: UInt16 = self.sign == .minus ? 0x8000 : 0
    if isNaN { return sign | 0x7E00 }
    let magnitude = self.magnitude
    if magnitude >= 65520 { return sign | 0x7C00 }
    if magnitude < 0x1p-14 { return sign | UInt16((magnitude * 0x1p24).rounded(.toNearestOrEven)) }
    let exponent = Int(magnitude.exponent)
    let scaled = (magnitude.significand - 1) * 1024
    let rounded = UInt16(scaled.rounded(.toNearestOrEven))
    return sign | (UInt16(exponent + 15) << 10 &+ rounded)
  }
}
