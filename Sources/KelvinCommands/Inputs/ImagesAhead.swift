import Dispatch
import Kelvin
import KelvinCollections
import KelvinVision
import Synchronization

/// The first images of a run, decoded in the background while the model is loaded.
final class ImagesAhead: Sendable {
  /// The largest number of decoded images.
  private static let countLimit = 32
  /// The number of bytes of pixels after which no further image is decoded.
  private static let byteLimit = 128 << 20

  private let decoded = Mutex<[Int: Result<DecodedImage, ImageError>]>([:])
  private let isOver = Atomic(false)
  private let work = DispatchGroup()

  init(_ files: [ImageFileList.File], orientation: ImageOrientation?) {
    DispatchQueue.global().async(group: work) { [self] in
      var bytes = 0
      for (index, file) in files.prefix(Self.countLimit).enumerated() where file.fault == nil {
        guard !isOver.load(ordering: .acquiring), bytes < Self.byteLimit else { return }
        let result = Result { () throws(ImageError) in try DecodedImage(file, orientation: orientation) }
        if let image = try? result.get() { bytes += image.pixels.bytes.count }
        decoded.withLock { $0[index] = result }
      }
    }
  }

  /// Starts decoding no further image, and waits for the current one.
  func finish() {
    isOver.store(true, ordering: .releasing)
    work.wait()
  }

  /// Removes and returns the result for an image; nil for an image that was not decoded. For use after ``finish()``.
  func take(_ index: Int) -> Result<DecodedImage, ImageError>? {
    decoded.withLock { $0.removeValue(forKey: index) }
  }
}
