import Dispatch
import Kelvin
import KelvinBasics
import KelvinVision
import Synchronization

/// Images that are decoded and looked at, several at the same time, with progress on a terminal.
struct ImageRun<Answer: Sendable> {
  /// What became of an image: an answer, or one line that says why there is none.
  struct Result: Sendable {
    var path: String
    var answer: Answer?
    var error: String?
  }

  /// Results are handed on after so many images: enough to keep every core busy to nearly the end.
  private static var batchSize: Int { 32 }

  private let files: [ImageFileList.File]
  private let orientation: ImageOrientation?
  private let ahead: ImagesAhead

  /// Begins to decode the first images.
  ///
  /// - Parameter orientation: in place of the files' own.
  init(_ files: [ImageFileList.File], orientation: ImageOrientation?) {
    (self.files, self.orientation) = (files, orientation)
    ahead = ImagesAhead(files, orientation: orientation)
  }

  /// Looks at all images. One that cannot be read is a line on stderr and never the end.
  ///
  /// - Parameters:
  ///   - label: what is being done, for the progress.
  ///   - look: the answer to an image, by its place among the files; called on several threads.
  ///   - report: is given the results in the files' order, while others are still to come.
  /// - Returns: `badData` where an image could not be read.
  /// - Throws: what keeps all of them from being looked at.
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
      let image = try ahead.take(index)?.get() ?? DecodedImage(named: path, orientation: orientation)
      return Result(path: path, answer: try look(index, image))
    } catch let error as ImageError where error.code != .decoderMissing && error.code != .encodingFailed {
      return Result(path: path, error: describe(error))
    }
  }
}

extension ImageRun where Answer: ImageResult {
  /// Looks at all images and prints what was found on them; then what there is to know of the model.
  ///
  /// - Parameters:
  ///   - label: what is being done, for the progress.
  ///   - sheet: a page that `look` adds images to.
  ///   - look: as for `perform`.
  /// - Throws: what `perform` throws, and `ReportedFailure` where an image could not be read.
  func show(
    _ label: String, by model: Model, _ format: ListFormat, isDocument: Bool, sheet: SheetWriter?,
    look: @escaping @Sendable (Int, DecodedImage) throws -> Answer
  ) throws {
    let printer = ResultPrinter<Answer>(format, isDocument: isDocument)
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
