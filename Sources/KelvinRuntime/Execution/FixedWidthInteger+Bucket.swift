extension FixedWidthInteger {
  /// The least power of two that is not less than the number. Numbers up to 2, and numbers without such a power, are
  /// returned unchanged.
  package var bucket: Self {
    guard self > 2, self <= .max / 2 else { return self }
    return 1 << (Self.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
