import Kelvin

/// The conversion of decoded frames to a format with two planes.
struct VideoColor: Sendable {
  /// The format of the frames that ffmpeg gives.
  let format: PixelFormat
  /// The matrix and the range of the frames, in the words of ffmpeg's filter `scale`.
  private let (matrix, range): (String, String)

  /// Frames in 4:2:0 with 8 bits by Rec. 601 or 709 keep their numbers. Other frames are converted to Rec. 709 in the
  /// range of video. Without a declared matrix it is Rec. 601, as in ffmpeg's own conversion.
  ///
  /// - Parameters:
  ///   - pixels: The name of the stored format, such as `yuv420p`.
  ///   - space: The declared matrix, such as `bt709`; nil if there is none.
  ///   - declaredRange: `tv` or `pc`; nil if there is none.
  init(pixels: String?, space: String?, declaredRange: String?) {
    let keepsMatrix = [nil, "unknown", "bt709", "smpte170m", "bt470bg", "fcc"].contains(space)
    let keepsNumbers = keepsMatrix && ["yuv420p", "yuvj420p", "nv12", "nv21"].contains(pixels)
    let isFull = declaredRange == "pc" || pixels == "yuvj420p"
    matrix = keepsNumbers && space != "bt709" ? "bt601" : "bt709"
    range = keepsNumbers && isFull ? "pc" : "tv"
    format =
      switch (matrix, range) {
      case ("bt709", "pc"): .yCbCr709Full
      case ("bt709", _): .yCbCr709Video
      case (_, "pc"): .yCbCr601Full
      default: .yCbCr601Video
      }
  }

  /// The filters that convert a frame of any size and format.
  func filters(width: Int, height: Int) -> String {
    "scale=w=\(width):h=\(height):out_color_matrix=\(matrix):out_range=\(range),format=pix_fmts=nv12"
  }
}

extension ImageOrientation {
  /// Creates the orientation that a display matrix of a video asks for; nil for an angle that is not a multiple of 90
  /// degrees, and for a matrix that is not valid.
  ///
  /// - Parameter matrix: The nine numbers in the text of ffprobe, in lines that begin with an address and a colon.
  init?(displayMatrix matrix: String) {
    let numbers = matrix.split(whereSeparator: { $0 == " " || $0 == "\n" }).filter { !$0.hasSuffix(":") }
      .map { Int32($0) }
    guard numbers.count == 9 else { return nil }
    // The right coordinate of a shown pixel is a·x + c·y, and the lower is b·x + d·y, in units of 1/65536.
    let signs = [numbers[0], numbers[1], numbers[3], numbers[4]].map { number in
      number.flatMap { abs(Int($0)) < 64 ? 0 : abs(abs(Int($0)) - 65_536) < 64 ? Int($0.signum()) : nil }
    }
    switch signs {
    case [1, 0, 0, 1]: self = .up
    case [-1, 0, 0, 1]: self = .upMirrored
    case [-1, 0, 0, -1]: self = .down
    case [1, 0, 0, -1]: self = .downMirrored
    case [0, 1, 1, 0]: self = .leftMirrored
    case [0, 1, -1, 0]: self = .right
    case [0, -1, -1, 0]: self = .rightMirrored
    case [0, -1, 1, 0]: self = .left
    default: return nil
    }
  }
}
