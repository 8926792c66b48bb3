package import FoundationEssentials
import Kelvin
import KelvinBasics

/// The facts of a source by ffprobe.
package struct MediaProbe: Sendable {
  /// The number of the video stream in the source.
  let stream: Int
  let width: Int
  let height: Int
  let timeBase: TimeBase
  let color: VideoColor
  let codec: String?
  let orientation: ImageOrientation
  /// The rate, if it is constant.
  let framesPerSecond: Double?
  let frameCount: Int?
  let duration: Duration?
  /// The time of the first packet of any stream.
  let start: Duration?
  /// The name of the codec of the first audio stream; nil without sound.
  let audioCodec: String?
  let version: MediaVersion
  let remarks: [String]

  /// The sections that are needed, so that the tags of a file are never in the answer.
  private static let entries =
    "program_version=version:format=duration,start_time:stream=index,codec_name,codec_type,width,height,pix_fmt,"
    + "color_range,color_space,avg_frame_rate,r_frame_rate,time_base,duration,nb_frames,sample_aspect_ratio,"
    + "field_order:stream_disposition=attached_pic:stream_side_data=displaymatrix"

  /// Asks ffprobe.
  ///
  /// - Parameters:
  ///   - input: The options that open the source.
  ///   - name: The name of the source in errors.
  ///   - timeout: The time limit.
  init(_ input: [String], name: String, timeout: Duration) throws(VideoError) {
    let run: MediaRun
    do throws(VideoError) {
      run = try MediaRun(.ffprobe, ["-show_entries", Self.entries, "-of", "json"] + input, timeout: timeout)
    } catch {
      guard error.code == .silent else { throw error }
      throw VideoError(
        .silent,
        "'\(name)' gave no video within \(HumanReadable.seconds(timeout.inSeconds)); "
          + "a longer time limit (--timeout) may help")
    }
    if case .signal = run.ending {
      throw VideoError(.toolFailed, "'\(name)': ffprobe \(run.ending.description)\(run.messages.quoted)")
    }
    guard run.isSuccess else { throw Self.failure(name, run.messages) }
    try self.init(json: Data(run.output), name: name)
  }

  /// Returns the error for a source that ffprobe does not open.
  private static func failure(_ name: String, _ messages: MediaMessages) -> VideoError {
    // ffprobe begins its last message with the name of the source. A message before it tells more.
    let last = messages.last.split(separator: ": ").last.map { String($0) } ?? "ffprobe gives no reason"
    let hasDetail = messages.count == 2 && !messages.first.contains(last)
    // This reason stands for any that has no number of its own, such as an unknown host.
    let isVague = last == "Input/output error"
    let words = hasDetail ? isVague ? messages.first : "\(last) (\(messages.first))" : last
    let absences = [
      "No such file", "Connection refused", "404", "Name or service", "No such device", "unreachable",
      "Failed to resolve hostname",
    ]
    let isAbsent = absences.contains { messages.last.contains($0) || messages.first.contains($0) }
    return VideoError(isAbsent ? .absent : .unreadable, "'\(name)' cannot be opened as a video: \(words)")
  }

  /// Reads the answer of ffprobe.
  ///
  /// - Throws: ``VideoError``: `unreadable` for a source without video, or with frames that are too large; `toolFailed`
  ///   for an answer that is not valid.
  package init(json: Data, name: String) throws(VideoError) {
    let answer: Answer
    do { answer = try JSONText.decode(Answer.self, from: json) } catch {
      throw VideoError(.toolFailed, "'\(name)': the answer of ffprobe is not valid: \(error)")
    }
    guard let video = answer.streams.first(where: { $0.type == "video" && !$0.isCover }) else {
      throw VideoError(.unreadable, "'\(name)' has no video stream")
    }
    let sizes = 1...ImageCodec.maximumPixels
    guard let width = video.width, let height = video.height, sizes.contains(width), sizes.contains(height),
      width <= ImageCodec.maximumPixels / height
    else {
      throw VideoError(
        .unreadable,
        "'\(name)' has frames of \(video.width ?? 0) x \(video.height ?? 0) pixels; "
          + "expected 1 to \(ImageCodec.maximumPixels) pixels")
    }
    guard let timeBase = video.timeBase.flatMap({ TimeBase($0) }), (0..<10_000).contains(video.index) else {
      throw VideoError(.toolFailed, "'\(name)': the answer of ffprobe is not valid: its video has no time base")
    }
    var remarks: [String] = []
    var orientation = ImageOrientation.up
    if let matrix = video.displayMatrix {
      if let known = ImageOrientation(displayMatrix: matrix) {
        orientation = known
      } else {
        remarks.append("the video has a rotation that is not a multiple of 90 degrees; its frames are not rotated")
      }
    }
    if let shape = video.pixelAspect, abs(shape - 1) > 0.01 {
      remarks.append(
        "the pixels are not square: \(HumanReadable.times(shape)) as wide as high; frames are used as stored"
      )
    }
    if let order = video.fieldOrder, !["progressive", "unknown"].contains(order) {
      remarks.append("the video is interlaced; both fields of a frame are used together")
    }
    (stream, self.width, self.height, self.timeBase) = (video.index, width, height, timeBase)
    color = VideoColor(pixels: video.pixels, space: video.space, declaredRange: video.range)
    codec = video.codec
    self.orientation = orientation
    framesPerSecond = video.constantRate
    frameCount = video.frameCount.flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    duration = (video.duration ?? answer.duration).flatMap { Duration(decimal: $0) }
    start = answer.start.flatMap { Duration(decimal: $0) }
    let audio = answer.streams.first { $0.type == "audio" }
    audioCodec = audio.map { $0.codec ?? "unknown" }
    version = MediaVersion(answer.version ?? "")
    self.remarks = remarks
  }
}

/// The document of ffprobe.
private struct Answer: Decodable {
  let streams: [Stream]
  let (version, duration, start): (String?, String?, String?)

  init(from decoder: any Decoder) throws {
    let fields = try JSONFields(decoder)
    streams = try fields["streams", or: []]
    let program: ProgramVersion? = try fields["program_version", or: nil]
    let format: Format? = try fields["format", or: nil]
    version = program?.version
    (duration, start) = (format?.duration, format?.start)
  }

  struct ProgramVersion: Decodable {
    let version: String?
    init(from decoder: any Decoder) throws { version = try JSONFields(decoder)["version", or: nil] }
  }

  struct Format: Decodable {
    let (duration, start): (String?, String?)
    init(from decoder: any Decoder) throws {
      let fields = try JSONFields(decoder)
      duration = try fields["duration", or: nil]
      start = try fields["start_time", or: nil]
    }
  }

  struct Stream: Decodable {
    let index: Int
    let (type, codec): (String?, String?)
    let (width, height): (Int?, Int?)
    let (pixels, range, space): (String?, String?, String?)
    let (averageRate, commonRate, timeBase): (String?, String?, String?)
    let (duration, frameCount, fieldOrder): (String?, String?, String?)
    let displayMatrix: String?
    let isCover: Bool
    private let aspect: String?

    init(from decoder: any Decoder) throws {
      let fields = try JSONFields(decoder)
      index = try fields["index"]
      type = try fields["codec_type", or: nil]
      codec = try fields["codec_name", or: nil]
      width = try fields["width", or: nil]
      height = try fields["height", or: nil]
      pixels = try fields["pix_fmt", or: nil]
      range = try fields["color_range", or: nil]
      space = try fields["color_space", or: nil]
      averageRate = try fields["avg_frame_rate", or: nil]
      commonRate = try fields["r_frame_rate", or: nil]
      timeBase = try fields["time_base", or: nil]
      duration = try fields["duration", or: nil]
      frameCount = try fields["nb_frames", or: nil]
      fieldOrder = try fields["field_order", or: nil]
      aspect = try fields["sample_aspect_ratio", or: nil]
      let disposition: Disposition? = try fields["disposition", or: nil]
      isCover = disposition?.isCover ?? false
      let data: [SideData] = try fields["side_data_list", or: []]
      displayMatrix = data.lazy.compactMap(\.matrix).first
    }

    /// Width of a pixel over its height; nil where it is not declared.
    var pixelAspect: Double? { aspect.flatMap { Self.ratio($0, ":") } }

    /// The average rate, if the smallest rate with the times of all frames is nearly the same.
    var constantRate: Double? {
      guard let average = averageRate.flatMap({ Self.ratio($0, "/") }) else { return nil }
      guard let common = commonRate.flatMap({ Self.ratio($0, "/") }) else { return average }
      return abs(common - average) <= 0.005 * average ? average : nil
    }

    private static func ratio(_ text: String, _ separator: Character) -> Double? {
      let parts = text.split(separator: separator)
      guard parts.count == 2, let over = Int32(parts[0]), let under = Int32(parts[1]), over > 0, under > 0 else {
        return nil
      }
      return Double(over) / Double(under)
    }
  }

  struct Disposition: Decodable {
    let isCover: Bool
    init(from decoder: any Decoder) throws { isCover = try JSONFields(decoder)["attached_pic", or: 0] != 0 }
  }

  struct SideData: Decodable {
    let matrix: String?
    init(from decoder: any Decoder) throws { matrix = try JSONFields(decoder)["displaymatrix", or: nil] }
  }
}

extension Duration {
  /// Parses seconds with up to nine decimals, such as `-0.021333`.
  fileprivate init?(decimal text: String) {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let parts = text.dropFirst(isNegative ? 1 : 0).split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let seconds = UInt32(parts[0]) else { return nil }
    let digits = parts.count == 2 ? parts[1].prefix(9) : "0"
    guard let fraction = UInt32(digits) else { return nil }
    var nanoseconds = Int64(fraction)
    for _ in digits.utf8.count..<9 { nanoseconds *= 10 }
    let size = Duration.seconds(Int64(seconds)) + .nanoseconds(nanoseconds)
    self = isNegative ? .zero - size : size
  }
}
