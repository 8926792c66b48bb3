extension FixedWidthInteger {
  /// The least power of two that is not less; negative numbers, and those too large for one, are as they are.
  package var bucket: Self {
    guard self > 2, self <= .max / 2 else { return self }
    return 1 << (Self.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
