import Dispatch
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision
import Synchronization

/// A run over images, which are decoded and processed concurrently, with progress on a terminal.
struct ImageRun<Answer: Sendable> {
  /// The result of an image: an answer, or the error as one line.
  struct Result: Sendable {
    var path: String
    var answer: Answer?
    var error: String?
  }

  /// The number of images that are processed before their results are reported; large enough to keep every core busy.
  private static var batchSize: Int { 32 }

  private let files: [ImageFileList.File]
  private let orientation: ImageOrientation?
  private let ahead: ImagesAhead

  /// Starts decoding the first images in the background.
  ///
  /// - Parameter orientation: The orientation, in place of the files' own.
  init(_ files: [ImageFileList.File], orientation: ImageOrientation?) {
    (self.files, self.orientation) = (files, orientation)
    ahead = ImagesAhead(files, orientation: orientation)
  }

  /// Processes all images. An unreadable image is reported on stderr and does not end the run.
  ///
  /// - Parameters:
  ///   - label: The label of the progress display.
  ///   - look: Returns the answer for an image and its index; called on several threads.
  ///   - report: Called with the results in the files' order, while later images are still to be processed.
  /// - Returns: `badData` where an image could not be read.
  /// - Throws: Errors that affect all images.
  func perform(
    _ label: String, look: @escaping @Sendable (Int, DecodedImage) throws -> Answer, report: (Result) throws -> Void
  ) throws -> ExitCode {
    ahead.finish()
    let progress = Progress(label)
    defer { progress.finish() }
    var status = ExitCode.success
    for first in stride(from: 0, to: files.count, by: Self.batchSize) {
      let batch = first..<min(first + Self.batchSize, files.count)
      for (index, result) in zip(batch, try results(of: batch, look)) {
        progress.update(Double(index + 1) / Double(files.count), result.path)
        if let error = result.error {
          status = .badData
          Console.error(error)
        } else {
          Progress.makeWay()
        }
        try report(result)
      }
    }
    return status
  }

  private func results(
    of batch: Range<Int>, _ look: @escaping @Sendable (Int, DecodedImage) throws -> Answer
  ) throws -> [Result] {
    let budget = WorkBudget.current
    let results = Mutex<[Int: Swift.Result<Result, any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: batch.count) { offset in
      let index = batch.lowerBound + offset
      let result = WorkBudget.governing(budget) { Swift.Result { try self.result(of: index, look) } }
      results.withLock { $0[index] = result }
    }
    return try results.withLock { results in try batch.compactMap { try results[$0]?.get() } }
  }

  private func result(of index: Int, _ look: (Int, DecodedImage) throws -> Answer) throws -> Result {
    let path = files[index].path
    if let fault = files[index].fault { return Result(path: path, error: describe("'\(path)': \(fault)")) }
    do {
      let image = try ahead.take(index)?.get() ?? DecodedImage(files[index], orientation: orientation)
      return Result(path: path, answer: try look(index, image))
    } catch let error as ImageError where error.code != .decoderMissing && error.code != .encodingFailed {
      return Result(path: path, error: describe(error))
    }
  }
}

extension ImageRun where Answer: ImageResult {
  /// Processes all images, prints the results and then the remarks on the model.
  ///
  /// - Parameters:
  ///   - label: The label of the progress display.
  ///   - isSafe: Whether CSV has no formulas of a spreadsheet.
  ///   - sheet: The page that `look` adds images to.
  ///   - look: The closure for `perform`.
  /// - Throws: Errors of `perform`, and `ReportedFailure` where an image could not be read.
  func show(
    _ label: String, by model: Model, _ format: ListFormat, isDocument: Bool, isSafe: Bool, sheet: SheetWriter?,
    look: @escaping @Sendable (Int, DecodedImage) throws -> Answer
  ) throws {
    let printer = ResultPrinter<Answer>(format, isDocument: isDocument, isSafe: isSafe)
    var index = 0
    let status = try perform(label, look: look) { result in
      if let error = result.error { sheet?.add(index, result.path, fault: error) }
      try printer.add(result.answer ?? Answer(image: result.path, error: result.error))
      index += 1
    }
    model.remarks.forEach(Console.note)
    try printer.finish()
    try sheet?.write(of: index)
    if status != .success { throw ReportedFailure(status: status) }
  }
}
