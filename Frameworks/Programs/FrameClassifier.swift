// Classifies frames of a camera on a serial queue, and drops frames that arrive while one is in progress.
//
// FrameClassifier MODEL PHOTO
import CoreVideo
import Foundation
import ImageIO
import Vision

final class FrameClassifier: @unchecked Sendable {
  private let queue = DispatchQueue(label: "classifier", qos: .userInitiated)
  private let lock = NSLock()
  private var isBusy = false
  private let model: VNCoreMLModel
  private(set) var dropped = 0
  var onResult: (@Sendable (String, Float) -> Void)?

  init(contentsOf url: URL) throws {
    let configuration = MLModelConfiguration()
    configuration.computeUnits = .cpuAndNeuralEngine
    model = try VNCoreMLModel(for: MLModel(contentsOf: url, configuration: configuration))
  }

  func classify(_ pixelBuffer: CVPixelBuffer, orientation: CGImagePropertyOrientation = .up) {
    lock.lock()
    defer { lock.unlock() }
    guard !isBusy else {
      dropped += 1
      return
    }
    isBusy = true
    queue.async { [weak self] in
      guard let self else { return }
      defer { self.lock.withLock { self.isBusy = false } }
      let request = VNCoreMLRequest(model: self.model) { request, error in
        guard error == nil, let best = request.results?.first as? VNClassificationObservation else { return }
        self.onResult?(best.identifier, best.confidence)
      }
      request.imageCropAndScaleOption = .centerCrop
      let handler = VNImageRequestHandler(cvPixelBuffer: pixelBuffer, orientation: orientation, options: [:])
      try? handler.perform([request])
    }
  }
}

extension CGImage {
  /// Draws the image into a buffer of a pool.
  func frame(from pool: CVPixelBufferPool) -> CVPixelBuffer? {
    var buffer: CVPixelBuffer?
    guard CVPixelBufferPoolCreatePixelBuffer(kCFAllocatorDefault, pool, &buffer) == kCVReturnSuccess, let buffer else {
      return nil
    }
    CVPixelBufferLockBaseAddress(buffer, [])
    defer { CVPixelBufferUnlockBaseAddress(buffer, []) }
    let context = CGContext(
      data: CVPixelBufferGetBaseAddress(buffer), width: width, height: height, bitsPerComponent: 8,
      bytesPerRow: CVPixelBufferGetBytesPerRow(buffer), space: CGColorSpaceCreateDeviceRGB(),
      bitmapInfo: CGImageAlphaInfo.noneSkipFirst.rawValue | CGBitmapInfo.byteOrder32Little.rawValue)
    context?.draw(self, in: CGRect(x: 0, y: 0, width: width, height: height))
    return context == nil ? nil : buffer
  }
}

@main
struct Camera {
  static func main() throws {
    let classifier = try FrameClassifier(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1]))
    guard let source = CGImageSourceCreateWithURL(URL(fileURLWithPath: CommandLine.arguments[2]) as CFURL, nil),
      let photo = CGImageSourceCreateImageAtIndex(source, 0, nil)
    else { fatalError("no photo") }
    let attributes: [String: Any] = [
      kCVPixelBufferPixelFormatTypeKey as String: kCVPixelFormatType_32BGRA,
      kCVPixelBufferWidthKey as String: photo.width, kCVPixelBufferHeightKey as String: photo.height,
      kCVPixelBufferIOSurfacePropertiesKey as String: [String: Any](),
    ]
    var pool: CVPixelBufferPool?
    CVPixelBufferPoolCreate(kCFAllocatorDefault, nil, attributes as CFDictionary, &pool)
    let answered = DispatchSemaphore(value: 0)
    classifier.onResult = { identifier, confidence in
      print("\(identifier) \(String(format: "%.1f", confidence * 100))%")
      answered.signal()
    }
    guard let frame = photo.frame(from: pool!) else { fatalError("no frame") }
    // The second frame arrives while the first is in progress.
    classifier.classify(frame)
    classifier.classify(frame)
    answered.wait()
    print("dropped: \(classifier.dropped > 0)")
  }
}
