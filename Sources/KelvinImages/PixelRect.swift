/// A rectangle of whole pixels, from the top left of the upright image.
public struct PixelRect: Hashable, Sendable {
  /// Pixels left of it.
  public var x: Int
  /// Rows above it.
  public var y: Int
  /// Pixels in a row of it.
  public var width: Int
  /// Rows of it.
  public var height: Int

  /// A rectangle by its top left corner and its size, in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
