import Dispatch
import Glibc
import Kelvin
import KelvinBasics
import KelvinVision
import Synchronization

/// Some pictures that are decoded and classified at the same time.
struct PictureBatch {
  struct Result: Sendable {
    var path: String
    var observations: [ClassificationObservation] = []
    var error: String?
  }

  /// Enough to keep every core busy to nearly the end.
  static let size = 32

  private let request: ClassificationRequest
  private let orientation: ImageOrientation?

  init(_ request: ClassificationRequest, orientation: ImageOrientation?) {
    (self.request, self.orientation) = (request, orientation)
  }

  /// What is on pictures, in their order.
  ///
  /// - Throws: what keeps all of them from being classified.
  func classify(_ files: [PictureFiles.File]) throws -> [Result] {
    let budget = WorkBudget.current
    let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: files.count) { index in
      let result = WorkBudget.governing(budget) { Swift.Result { try classify(files[index]) } }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { results in try files.indices.compactMap { try results[$0]?.get() } }
  }

  private func classify(_ file: PictureFiles.File) throws -> Result {
    if let fault = file.fault { return Result(path: file.path, error: describe("'\(file.path)': \(fault)")) }
    do {
      let picture = try decode(file.path)
      let observations = try recognizing { () throws(VisionError) in
        try request.classify(picture.pixels, orientation: picture.orientation)
      }
      return Result(path: file.path, observations: observations)
    } catch let error as ImageError where error.code != .decoderMissing {
      return Result(path: file.path, error: describe(error))
    }
  }

  private func decode(_ path: String) throws -> DecodedImage {
    guard path == "-" else { return try ImageFile.decode(path: path, orientation: orientation) }
    return try ImageFile.decode(try StandardInput.bytes(), name: "standard input", orientation: orientation)
  }
}

/// What is sent to the program.
private enum StandardInput {
  /// All of it.
  ///
  /// - Throws: `ImageError` where it cannot be read, or is larger than a picture may be.
  static func bytes() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(STDIN_FILENO, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else {
        throw ImageError(.unreadable, "standard input", "cannot read it: \(String(cString: strerror(errno)))")
      }
      guard count > 0 else { return bytes }
      bytes += piece.prefix(count)
      guard bytes.count <= ImageFile.maximumFileBytes else {
        throw ImageError(.tooLarge, "standard input", "at most \(ImageFile.maximumFileBytes) bytes are read")
      }
    }
  }
}
