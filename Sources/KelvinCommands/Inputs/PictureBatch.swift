import Dispatch
import Glibc
import Kelvin
import KelvinBasics
import KelvinVision
import Synchronization

/// Pictures that are decoded and asked about some at a time.
struct PictureBatch<Answer: Sendable>: Sendable {
  struct Result: Sendable {
    var path: String
    /// Nil where there is an error.
    var answer: Answer?
    var error: String?
  }

  private let orientation: ImageOrientation?
  private let answer: @Sendable (_ picture: DecodedImage, _ index: Int) throws -> Answer

  /// - Parameters:
  ///   - orientation: in place of what each file says.
  ///   - answer: for a picture, by its place among the files; called on several threads at a time.
  init(
    orientation: ImageOrientation?, answer: @escaping @Sendable (_ picture: DecodedImage, _ index: Int) throws -> Answer
  ) {
    (self.orientation, self.answer) = (orientation, answer)
  }

  /// Answers for all files, in their order, with progress. A picture that cannot be read is said and counted.
  ///
  /// - Parameter body: takes an answer or why there is none.
  /// - Returns: how many have none.
  /// - Throws: what keeps all pictures from being answered; what `body` throws.
  func each(of files: [PictureFiles.File], _ doing: String, _ body: (Result) throws -> Void) throws -> Int {
    let progress = Progress(doing)
    defer { progress.finish() }
    var (failures, done) = (0, 0)
    for start in stride(from: 0, to: files.count, by: pictureBatchSize) {
      for result in try results(files, start..<min(start + pictureBatchSize, files.count)) {
        done += 1
        progress.update(Double(done) / Double(files.count), result.path)
        if let error = result.error {
          failures += 1
          Console.error(error)
        } else {
          Progress.makeWay()
        }
        try body(result)
      }
    }
    return failures
  }

  private func results(_ files: [PictureFiles.File], _ range: Range<Int>) throws -> [Result] {
    let budget = WorkBudget.current
    let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: range.count) { place in
      let index = range.lowerBound + place
      let result = WorkBudget.governing(budget) { Swift.Result { try self.result(files[index], index) } }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { results in try range.compactMap { try results[$0]?.get() } }
  }

  private func result(_ file: PictureFiles.File, _ index: Int) throws -> Result {
    if let fault = file.fault { return Result(path: file.path, error: describe("'\(file.path)': \(fault)")) }
    do {
      return Result(path: file.path, answer: try answer(try decode(file.path), index))
    } catch let error as ImageError where error.code != .decoderMissing && error.code != .encodingFailed {
      return Result(path: file.path, error: describe(error))
    }
  }

  private func decode(_ path: String) throws -> DecodedImage {
    guard path == "-" else { return try ImageFile.decode(path: path, orientation: orientation) }
    return try ImageFile.decode(try StandardInput.bytes(), name: "standard input", orientation: orientation)
  }
}

/// Enough to keep every core busy to nearly the end.
private let pictureBatchSize = 32

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

extension DecodedImage {
  /// The size of the picture as it is seen.
  var uprightSize: ImageSize {
    orientation.swapsAxes
      ? ImageSize(width: pixels.height, height: pixels.width) : ImageSize(width: pixels.width, height: pixels.height)
  }
}
