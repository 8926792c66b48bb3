import Kelvin
import KelvinBasics
import KelvinCollections

/// Images as frames of a constant rate. Files that cannot be decoded are left out, with a remark.
final class ImageFrames: FrameReader {
  let facts: VideoFacts
  let remarks = RemarkList()

  private let files: [ImageFileList.File]
  private let rate: Double
  private let cancel: CancelSignal
  private var position = 0
  private var hasSeveralSizes = false
  /// The first image, which was decoded for the facts.
  private var first: DecodedImage?

  /// - Parameters:
  ///   - files: The files in order. One of them at least must be an image that can be decoded.
  ///   - rate: The images of a second.
  init(_ files: [ImageFileList.File], name: String, rate: Double, _ cancel: CancelSignal) throws(VideoError) {
    guard rate > 0, rate <= 1e6 else {
      throw VideoError(.request, "\(rate) is not a rate of images; expected a number above 0, at most 1000000")
    }
    (self.files, self.rate, self.cancel) = (files, rate, cancel)
    var skipped = 0
    var failure: String?
    while skipped < files.count, first == nil, !cancel.isSet {
      do throws(VideoError) { first = try Self.decode(files[skipped]) } catch {
        failure = failure ?? error.description
        remarks.add("left out: \(error.description)")
        skipped += 1
      }
    }
    guard let first else {
      throw VideoError(.unreadable, "'\(name)' has no image that can be decoded" + (failure.map { ": \($0)" } ?? ""))
    }
    position = skipped
    facts = VideoFacts(
      name: name, kind: .images, width: first.pixels.width, height: first.pixels.height,
      orientation: first.orientation, framesPerSecond: rate, duration: Self.time(files.count, rate),
      frameCount: files.count, hasAudio: false, isLive: false, codec: nil, format: first.pixels.format)
  }

  func close() { (position, first) = (files.count, nil) }

  func next() throws(VideoError) -> VideoFrame? {
    while position < files.count, !cancel.isSet {
      let number = position
      position += 1
      do throws(VideoError) {
        let image: DecodedImage
        if let decoded = first.take() { image = decoded } else { image = try Self.decode(files[number]) }
        if !hasSeveralSizes, (image.width, image.height) != (facts.uprightWidth, facts.uprightHeight) {
          hasSeveralSizes = true
          remarks.add("the images have several sizes; the first other one is '\(files[number].path)'")
        }
        return VideoFrame(
          number: number, time: Self.time(number, rate), image: image.pixels, orientation: image.orientation)
      } catch {
        remarks.add("left out: \(error.description)")
      }
    }
    close()
    return nil
  }

  private static func decode(_ file: ImageFileList.File) throws(VideoError) -> DecodedImage {
    if let fault = file.fault { throw VideoError(.unreadable, "'\(file.path)': \(fault)") }
    do throws(ImageError) { return try ImageCodec.decode(path: file.path, below: file.folder) } catch {
      throw VideoError(error.code == .decoderMissing ? .toolMissing : .unreadable, error.description)
    }
  }

  /// Returns the time of an image. Times of a whole rate are exact.
  private static func time(_ number: Int, _ rate: Double) -> Duration {
    if rate == rate.rounded(), let base = TimeBase(1, Int(rate)) { return base.time(Int64(number)) }
    return .limited(seconds: Double(number) / rate)
  }
}

extension VideoFacts {
  /// The width of the upright frames in pixels.
  public var uprightWidth: Int { orientation.swapsAxes ? height : width }
  /// The height of the upright frames in pixels.
  public var uprightHeight: Int { orientation.swapsAxes ? width : height }
}
