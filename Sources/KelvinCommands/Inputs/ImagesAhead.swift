import Dispatch
import Kelvin
import KelvinVision
import Synchronization

/// The first of many images, decoded while something else is waited for: a model that is being loaded.
final class ImagesAhead: Sendable {
  /// No more images are kept than these.
  private static let countLimit = 32
  /// No more bytes of pixels are kept than these and one image's.
  private static let byteLimit = 128 << 20

  private let decoded = Mutex<[Int: Result<DecodedImage, ImageError>]>([:])
  private let isOver = Atomic(false)
  private let work = DispatchGroup()

  init(_ files: [ImageFileList.File], orientation: ImageOrientation?) {
    DispatchQueue.global().async(group: work) { [self] in
      var bytes = 0
      for (index, file) in files.prefix(Self.countLimit).enumerated() where file.fault == nil {
        guard !isOver.load(ordering: .acquiring), bytes < Self.byteLimit else { return }
        let result = Result { () throws(ImageError) in try DecodedImage(named: file.path, orientation: orientation) }
        if let image = try? result.get() { bytes += image.pixels.bytes.count }
        decoded.withLock { $0[index] = result }
      }
    }
  }

  /// Begins no further image, and waits for the one that has been begun.
  func finish() {
    isOver.store(true, ordering: .releasing)
    work.wait()
  }

  /// What became of an image, once; nil for one that was not begun. For use after ``finish()``.
  func take(_ index: Int) -> Result<DecodedImage, ImageError>? {
    decoded.withLock { $0.removeValue(forKey: index) }
  }
}
