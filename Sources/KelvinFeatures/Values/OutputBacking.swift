/// The memory that an output is written to.
public enum OutputBacking: Sendable {
  /// An array.
  case multiArray(MultiArray)
  /// An image.
  case pixelBuffer(PixelBacking)
}
