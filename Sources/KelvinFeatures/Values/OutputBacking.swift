/// Memory for an output.
public enum OutputBacking: Sendable {
  /// Memory for an array.
  case multiArray(MultiArray)
  /// Memory for an image.
  case pixelBuffer(PixelBacking)
}
