/// Memory for an output.
public enum OutputBacking: Sendable {
  /// Memory for an array.
  case multiArray(MultiArray)
  /// Memory for a picture.
  case pixelBuffer(PixelBacking)
}
