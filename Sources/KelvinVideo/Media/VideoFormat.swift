import KelvinBasics
import Synchronization

/// The kind of a written file, by the extension of its name.
enum VideoFormat: String, CaseIterable {
  case mp4, mov, mkv, webm

  /// - Throws: ``VideoError`` (`request`) for another extension.
  init(path: String) throws(VideoError) {
    let name = path.lastPathPart
    let ending = name.lastIndex(of: ".").map { name[name.index(after: $0)...].lowercased() } ?? ""
    guard let format = VideoFormat(rawValue: ending == "m4v" ? "mp4" : ending) else {
      throw VideoError(
        .request,
        "'\(path)' does not end in the extension of a video; expected "
          + Self.allCases.map { ".\($0.rawValue)" }.joined(separator: ", "))
    }
    self = format
  }

  /// The name of the format in ffmpeg.
  var muxer: String { self == .mkv ? "matroska" : rawValue }

  /// Whether the file is one of fragments while it is written, so that it can be played wherever it ends.
  private var isFragmented: Bool { self == .mp4 || self == .mov }

  /// The options of the file while it is written: fragments of a second, which are on the disk at once.
  func whileWriting(_ base: TimeBase) -> [String] {
    let fragments = ["-movflags", "+frag_keyframe+delay_moov+default_base_moof", "-frag_duration", "1000000"]
    return ["-flush_packets", "1"] + (isFragmented ? fragments : []) + whenComplete(base)
  }

  /// The options of a complete file.
  func whenComplete(_ base: TimeBase) -> [String] {
    (isFragmented ? ["-video_track_timescale", "\(base.denominator)"] : []) + ["-f", muxer]
  }

  /// The options for the sound of another file: a copy if the format can have it, else an encoding.
  func sound(codec: String) -> [String] {
    let (kept, other) =
      switch self {
      case .mp4: (["aac", "mp3", "ac3", "eac3", "alac", "flac", "opus"], "aac")
      case .mov: (["aac", "mp3", "ac3", "eac3", "alac", "pcm_s16le", "pcm_s16be", "pcm_s24le", "pcm_f32le"], "aac")
      case .mkv: ([codec], "aac")
      case .webm: (["opus", "vorbis"], "libopus")
      }
    return ["-c:a", kept.contains(codec) ? "copy" : other]
  }

  /// The encoders of video, the best first.
  var encoders: [VideoEncoder] {
    self == .webm ? [.vp9, .vp8] : [.x264, .openh264, .mpeg4]
  }
}

/// An encoder of ffmpeg.
enum VideoEncoder: String {
  case x264 = "libx264"
  case openh264 = "libopenh264"
  case mpeg4
  case vp9 = "libvpx-vp9"
  case vp8 = "libvpx"

  /// The options of a quality that keeps drawn lines clear, without frames that refer to later ones.
  func options(width: Int, height: Int) -> [String] {
    let quality =
      switch self {
      case .x264: ["-preset", "veryfast", "-crf", "20", "-bf", "0"]
      case .openh264: ["-b:v", "\(max(500_000, width * height * 4))"]
      case .mpeg4: ["-q:v", "3"]
      case .vp9: ["-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-crf", "30", "-b:v", "0"]
      case .vp8:
        ["-deadline", "realtime", "-cpu-used", "8", "-crf", "10", "-b:v", "\(max(500_000, width * height * 4))"]
      }
    return ["-c:v", rawValue] + quality
  }

  /// The unit of times: MPEG-4 has units of at least 1/65535 s.
  func timeBase(_ base: TimeBase) -> TimeBase {
    guard self == .mpeg4, base.denominator > 65_535 else { return base }
    return TimeBase(1, 60_000) ?? base
  }

  /// The encoders and the version of the installed ffmpeg, once known.
  private static let installed = Mutex<(names: [String], version: MediaVersion)?>(nil)

  /// Asks ffmpeg which of some encoders it has.
  ///
  /// - Returns: The first of them, and the version of ffmpeg.
  /// - Throws: ``VideoError``: `toolMissing`, also if it has none of them; `toolFailed`; `silent`.
  static func first(of encoders: [VideoEncoder]) throws(VideoError) -> (VideoEncoder, MediaVersion) {
    let (names, version): ([String], MediaVersion)
    if let known = installed.withLock({ $0 }) {
      (names, version) = known
    } else {
      (names, version) = try list()
      installed.withLock { [names, version] in $0 = (names, version) }
    }
    guard let found = encoders.first(where: { names.contains($0.rawValue) }) else {
      throw VideoError(
        .toolMissing,
        "the installed ffmpeg has none of the encoders \(encoders.map(\.rawValue).joined(separator: ", "))")
    }
    return (found, version)
  }

  private static func list() throws(VideoError) -> ([String], MediaVersion) {
    // The first message is `ffmpeg version 5.1.9 …`.
    let run = try MediaRun(.ffmpeg, ["-loglevel", "info", "-encoders"], isQuiet: false, timeout: .seconds(30))
    guard run.isSuccess else {
      throw VideoError(
        .toolFailed, "ffmpeg does not list its encoders: it \(run.ending.description)\(run.messages.quoted)")
    }
    // A line is ` V....D libx264    a description`.
    let names = String(decoding: run.output, as: UTF8.self).split(whereSeparator: \.isNewline)
      .compactMap { line in line.split(separator: " ").dropFirst().first.map { String($0) } }
    let words = run.messages.first.split(separator: " ")
    return (names, MediaVersion(words.count > 2 ? String(words[2]) : ""))
  }
}
