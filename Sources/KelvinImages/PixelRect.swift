/// A rectangle of whole pixels, from the top left of the upright image.
public struct PixelRect: Hashable, Sendable {
  /// The distance from the image's left edge in pixels.
  public var x: Int
  /// The distance from the image's upper edge in pixels.
  public var y: Int
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Creates a rectangle from its top left corner and its size, in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }
}
