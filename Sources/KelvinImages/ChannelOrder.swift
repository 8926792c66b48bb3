/// The order of the channels of an image tensor along its channel axis.
public enum ChannelOrder: String, Hashable, Sendable, CaseIterable {
  /// Red, green, blue.
  case rgb
  /// Blue, green, red.
  case bgr
  /// One channel of luma, Y' = 0.299 R' + 0.587 G' + 0.114 B' (Rec. 601), rounded to 8 bits.
  case grayscale

  /// The length of the channel axis.
  public var count: Int { self == .grayscale ? 1 : 3 }
}

/// Returns the Rec. 601 luma of an 8-bit colour, with weights in units of 1/65536 that sum to one.
@inline(__always)
func luma(_ red: Int, _ green: Int, _ blue: Int) -> Int {
  (19595 &* red &+ 38470 &* green &+ 7471 &* blue &+ 32768) &>> 16
}
