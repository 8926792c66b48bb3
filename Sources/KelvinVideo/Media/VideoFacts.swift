public import Kelvin

/// A frame of a source.
public struct VideoFrame: Sendable {
  /// The number of frames of the source before this one.
  public let number: Int
  /// The presentation time in the source's own clock, as ffprobe shows it: the timestamp times the time base. The first
  /// frame of a file may have a time other than 0.
  public let time: Duration
  /// The pixels as stored. Video has two planes, by Rec. 601 or 709; images are `PixelFormat.rgb8`.
  public let image: PixelBuffer
  /// The orientation of the stored pixels, from the metadata of the source.
  public let orientation: ImageOrientation

  /// Creates a frame.
  ///
  /// - Parameters:
  ///   - number: The number of frames of the source before this one.
  ///   - time: The presentation time in the source's own clock.
  ///   - image: The pixels as stored.
  ///   - orientation: The orientation of the stored pixels.
  public init(number: Int, time: Duration, image: PixelBuffer, orientation: ImageOrientation = .up) {
    (self.number, self.time, self.image, self.orientation) = (number, time, image, orientation)
  }
}

/// The properties of a source that are known before its first frame.
public struct VideoFacts: Sendable, Hashable {
  /// The kinds of sources.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A video file.
    case file
    /// A folder, a pattern or a single file of images.
    case images
    /// A camera on this machine.
    case camera
    /// A stream or file of a server.
    case network
    /// YUV4MPEG2 on standard input.
    case pipe

    /// Whether the rate of the frames can be chosen, at least where the source does not declare one.
    package var hasChosenRate: Bool {
      switch self {
      case .images, .camera, .pipe: true
      case .file, .network: false
      }
    }
  }

  /// The name of the source, without the user and password of a URL.
  public var name: String
  /// The kind of the source.
  public var kind: Kind
  /// The width of the stored frames in pixels; of the first image.
  public var width: Int
  /// The height of the stored frames in pixels; of the first image.
  public var height: Int
  /// The orientation of the stored frames; of the first image.
  public var orientation: ImageOrientation
  /// The constant frame rate; nil where it is variable or unknown.
  public var framesPerSecond: Double?
  /// The duration that the source declares; nil where it declares none.
  public var duration: Duration?
  /// The number of frames that the source declares, which a damaged file may not have; nil where it declares none.
  public var frameCount: Int?
  /// Whether the source has sound.
  public var hasAudio: Bool
  /// Whether frames arrive at their own pace, so that a late reader loses them.
  public var isLive: Bool
  /// The name of the video codec by ffprobe, such as `h264`; nil for images and raw frames.
  public var codec: String?
  /// The format of the frames.
  public var format: PixelFormat

  /// Whether the source can be read again from its beginning.
  package var canRepeat: Bool { kind == .file || kind == .images }
}
