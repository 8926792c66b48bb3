import Glibc
import KelvinBasics
import KelvinCollections
import KelvinImages

/// The kind of source that a name means.
enum SourceName {
  case file(String)
  case images([ImageFileList.File])
  /// The path of a camera's device.
  case camera(String)
  case network(String, scheme: String)
  case pipe

  /// The schemes of URLs, and the protocols that ffmpeg may use for each. None of them reads a file of this machine.
  private static let schemes: [(scheme: String, protocols: String)] = [
    ("rtsp", "rtsp,rtp,udp,tcp"), ("rtsps", "rtsps,rtsp,rtp,udp,tcp,tls"),
    ("http", "http,https,tcp,tls,crypto,httpproxy"), ("https", "http,https,tcp,tls,crypto,httpproxy"),
    ("rtmp", "rtmp,tcp"), ("rtmps", "rtmps,rtmp,tcp,tls"), ("srt", "srt,udp"), ("udp", "udp"), ("tcp", "tcp"),
  ]

  /// The seconds of a live stream that ffprobe, and then ffmpeg, reads before it knows the stream.
  private static let (secondsOfProbe, secondsOfReading) = (3, 1)

  /// - Throws: ``VideoError``: `absent` for a name without a file; `request` for a URL of another scheme; `unreadable`
  ///   for a folder without images, and for a file that is neither regular nor a camera.
  init(_ name: String) throws(VideoError) {
    var status = stat()
    if name == "-" {
      self = .pipe
    } else if stat(name.pathBytes, &status) == 0 {
      try self.init(name, mode: status.st_mode & S_IFMT)
    } else if !name.isEmpty, name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      guard stat("/dev/video\(name)".pathBytes, &status) == 0 else { throw Self.absent("/dev/video\(name)") }
      self = .camera("/dev/video\(name)")
    } else if let scheme = Self.scheme(of: name) {
      guard Self.schemes.contains(where: { $0.scheme == scheme }) else {
        throw VideoError(
          .request,
          "'\(Self.shown(name))': '\(scheme)' is not the scheme of a video source; expected one of "
            + Self.schemes.map(\.scheme).joined(separator: ", "))
      }
      self = .network(name, scheme: scheme)
    } else if name.utf8.contains(where: { "*?[".utf8.contains($0) }) {
      self = .images(try Self.images(name))
    } else {
      throw Self.absent(name)
    }
  }

  private init(_ name: String, mode: mode_t) throws(VideoError) {
    switch mode {
    case S_IFDIR: self = .images(try Self.images(name))
    case S_IFCHR: self = .camera(name)
    case S_IFREG:
      let start: [UInt8]
      do throws(FileError) { start = try OpenFile(name).start(16) } catch {
        throw VideoError(.unreadable, error.description)
      }
      guard !start.isEmpty else { throw VideoError(.unreadable, "'\(name)' is empty; expected a video") }
      // A GIF may be an animation, of which the image decoder reads only the first frame.
      let format = ImageFormat(sniffing: start)
      self = format == nil || format == .gif ? .file(name) : .images(ImageFileList.named([name]))
    default:
      throw VideoError(
        .unreadable,
        "'\(name)' is a pipe or a socket, which cannot be read twice; "
          + "give YUV4MPEG2 on standard input instead: '-'")
    }
  }

  private static func images(_ name: String) throws(VideoError) -> [ImageFileList.File] {
    let files = ImageFileList.named([name])
    guard files.contains(where: { $0.fault == nil }) else {
      let reason = files.first?.fault ?? "it has no images"
      let isPattern = name.utf8.contains(where: { "*?[".utf8.contains($0) })
      throw VideoError(isPattern ? .absent : .unreadable, "'\(name)': \(reason); expected images")
    }
    return files
  }

  private static func absent(_ name: String) -> VideoError {
    VideoError(
      .absent,
      "'\(name)' does not exist; expected a video file, a folder or pattern of images, a URL, a camera such as "
        + "/dev/video0, or - for YUV4MPEG2 on standard input")
  }

  /// The lowercase scheme of a URL; nil for anything else.
  private static func scheme(of name: String) -> String? {
    guard let colon = name.utf8.firstIndex(of: UInt8(ascii: ":")), name[colon...].utf8.starts(with: "://".utf8) else {
      return nil
    }
    let scheme = name[..<colon].lowercased()
    return !scheme.isEmpty && scheme.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
      ? scheme : nil
  }

  /// Whether a name is that of a server or a camera, present or not.
  static func isServerOrCamera(_ name: String) -> Bool {
    var status = stat()
    if stat(name.pathBytes, &status) == 0 { return status.st_mode & S_IFMT == S_IFCHR }
    let isNumber = !name.isEmpty && name.utf8.allSatisfy { (0x30...0x39).contains($0) }
    return isNumber || name.hasPrefix("/dev/video")
      || scheme(of: name).map { schemes.map(\.scheme).contains($0) } ?? false
  }

  /// A name without the user and password of a URL.
  static func shown(_ name: String) -> String {
    guard let scheme = scheme(of: name) else { return name }
    let rest = name.utf8.dropFirst(scheme.utf8.count + 3)
    let host = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    guard let at = host.lastIndex(of: UInt8(ascii: "@")) else { return name }
    return String(name[..<rest.startIndex]) + "…" + String(name[at...])
  }

  /// The longest time until ffprobe has the facts. For a server, the limit of silence begins after the analysis.
  func probeTimeout(_ options: VideoSource.Options) -> Duration {
    guard case .network = self else { return options.timeout }
    return options.timeout + .seconds(Self.secondsOfProbe)
  }

  /// The options of ffmpeg and ffprobe that open the source. A name is never taken for an option or a protocol.
  func input(_ options: VideoSource.Options, _ version: MediaVersion?) -> [String] {
    switch self {
    case .file(let path):
      return ["-protocol_whitelist", "file,pipe", "-i", "file:\(path)"]
    case .camera(let path):
      var input = ["-f", "v4l2"]
      if let rate = options.cameraFramesPerSecond { input += ["-framerate", "\(rate)"] }
      if let size = options.cameraSize { input += ["-video_size", "\(size.width)x\(size.height)"] }
      return input + ["-i", path]
    case .network(let url, let scheme):
      let protocols = Self.schemes.first { $0.scheme == scheme }?.protocols ?? scheme
      // The program ends itself even if this process was killed, and later than this process would end it.
      let limit = String(Int64(min(max(2 * options.timeout.inSeconds, 1), 1e6) * 1e6))
      let isRTSP = scheme.hasPrefix("rtsp")
      let timeout = isRTSP ? [(version ?? MediaVersion("5.1")).rtspTimeout, limit] : ["-rw_timeout", limit]
      // The facts are known when the frames are read, so a live stream is analysed for a shorter time then.
      let seconds = version == nil ? Self.secondsOfProbe : Self.secondsOfReading
      let analysis = scheme.hasPrefix("http") ? [] : ["-analyzeduration", "\(seconds * 1_000_000)"]
      return ["-protocol_whitelist", protocols] + timeout + analysis + (isRTSP ? ["-rtsp_transport", "tcp"] : [])
        + ["-i", url]
    case .images, .pipe: return []
    }
  }
}
