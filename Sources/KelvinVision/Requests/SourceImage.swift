import FoundationEssentials
import Kelvin
import KelvinEngine
import Synchronization

/// An image that is decoded once, when it is first needed.
final class SourceImage: Sendable {
  private let decode: @Sendable () throws(ImageError) -> DecodedImage
  private let decoded = Mutex<Result<DecodedImage, VisionError>?>(nil)

  init(_ image: PixelBuffer, orientation: ImageOrientation) {
    decode = { () throws(ImageError) in DecodedImage(pixels: image, orientation: orientation) }
  }

  /// - Parameter orientation: replaces the file's EXIF orientation.
  init(_ url: URL, orientation: ImageOrientation?) {
    decode = { () throws(ImageError) in try ImageCodec.decode(path: url.path, orientation: orientation) }
  }

  /// - Parameters:
  ///   - data: the bytes of an image file.
  ///   - orientation: replaces the file's EXIF orientation.
  init(_ data: Data, orientation: ImageOrientation?) {
    decode = { () throws(ImageError) in try ImageCodec.decode(Array(data), name: "data", orientation: orientation) }
  }

  /// The image, or the reason for which it cannot be decoded. Blocks the calling thread while it is decoded.
  var result: Result<DecodedImage, VisionError> {
    decoded.withLock { decoded in
      let result =
        decoded
        ?? Result { () throws(VisionError) in
          do throws(ImageError) { return try decode() } catch { throw .image(error) }
        }
      decoded = result
      return result
    }
  }

  /// Returns the image, decoded on a thread that may block.
  func get() async throws(VisionError) -> DecodedImage {
    let result: Result<DecodedImage, VisionError>
    do throws(ModelError) { result = try await BlockingWork.run { _ in self.result } } catch {
      throw .prediction(error)
    }
    return try result.get()
  }
}
