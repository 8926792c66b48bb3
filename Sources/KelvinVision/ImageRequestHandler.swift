public import FoundationEssentials
public import Kelvin

/// A picture, and requests to be performed on it. The picture is decoded once.
public struct ImageRequestHandler: Sendable {
  private let pixels: PixelBuffer
  private let orientation: ImageOrientation

  /// A picture in memory.
  public init(_ image: PixelBuffer, orientation: ImageOrientation = .up) {
    pixels = image
    self.orientation = orientation
  }

  /// A picture file; its EXIF orientation holds unless `orientation` is given.
  ///
  /// - Throws: `VisionError.image` where the file cannot be read or is no picture.
  public init(_ url: URL, orientation: ImageOrientation? = nil) throws(VisionError) {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(path: url.path, orientation: orientation)
      self.init(decoded.pixels, orientation: decoded.orientation)
    } catch { throw .image(error) }
  }

  /// Encoded bytes of a picture file.
  ///
  /// - Throws: `VisionError.image` where they are no picture.
  public init(_ data: Data, orientation: ImageOrientation? = nil) throws(VisionError) {
    do throws(ImageError) {
      let decoded = try ImageFile.decode(Array(data), name: "data", orientation: orientation)
      self.init(decoded.pixels, orientation: decoded.orientation)
    } catch { throw .image(error) }
  }

  /// Performs one request.
  ///
  /// - Throws: `VisionError`.
  public func perform(_ request: CoreMLRequest) async throws(VisionError) -> [any VisionObservation] {
    try await request.perform(on: pixels, orientation: orientation)
  }
}
