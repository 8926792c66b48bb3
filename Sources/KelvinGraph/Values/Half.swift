/// IEEE 754 binary16, as bits. Swift's `Float16` does not exist on every Linux platform Kelvin runs on.
extension Float {
  /// The exact value of a binary16 number.
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
