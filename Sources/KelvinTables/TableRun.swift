import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinFeatures
import KelvinRuntime
import Synchronization

/// A run over a table. Workers take blocks of rows, predict for them and write the results in the blocks' order.
final class TableRun: Sendable {
  private struct Reading {
    var table: TableReader
    var next = 0
    var hasFailed = false
  }

  private struct Writing {
    let file: AtomicFileWriter
    /// The index of the next block to write.
    var turn = 0
    var running = 0
    var failure: ModelError?
    var result: TablePrediction.Result
  }

  /// A block that a worker has taken, to be written after the blocks before it.
  private struct Claim {
    let index: Int
    /// The block, or the error of reading it.
    let block: Result<TableReader.Block, ModelError>
  }

  /// The maximum number of reasons kept.
  private static let mostReasons = 100

  private let input: TableReader.Form
  private let output: String?
  private let predictor: TablePredictor
  private let reading: Mutex<Reading>
  private let writing: ConditionLock<Writing>
  private let progress: @Sendable (TablePrediction.Progress) -> Void
  private let cancellation: Cancellation?

  /// Opens the input and the output and reads the column names.
  init(
    _ prediction: TablePrediction, from input: TablePrediction.Place, to output: TablePrediction.Place,
    _ progress: @escaping @Sendable (TablePrediction.Progress) -> Void, _ cancellation: Cancellation?
  ) throws(ModelError) {
    guard let separator = prediction.separator.asciiValue, !"\"\r\n".utf8.contains(separator) else {
      throw ModelError(.parameters, "'\(prediction.separator)' cannot separate cells", fault: .request)
    }
    self.progress = progress
    self.cancellation = cancellation
    let stream = try ModelError.wrapping {
      switch input {
      case .file(let url): try ByteStream(url.relativePath)
      case .standard: try ByteStream(STDIN_FILENO, name: "standard input")
      }
    }
    let path: String? = if case .file(let url) = output { url.relativePath } else { nil }
    self.output = path
    if let path, stream.isFile(path) {
      throw ModelError(
        .parameters, "'\(path)' is the input table; name another file for the predictions", fault: .request)
    }
    let table = try TableReader(stream, separator: separator, cancellation)
    self.input = table.form
    predictor = try TablePredictor(prediction, columns: table.columns, of: table.form)
    var result = TablePrediction.Result()
    result.columns = predictor.names
    result.remarks = predictor.remarks
    let file = try ModelError.wrapping {
      if let path { try AtomicFileWriter(path) } else { AtomicFileWriter(standardOutput: STDOUT_FILENO) }
    }
    reading = Mutex(Reading(table: table))
    writing = ConditionLock(Writing(file: file, result: result))
  }

  /// Processes the whole table.
  func result() throws(ModelError) -> TablePrediction.Result {
    var header = predictor.emptyText
    for name in predictor.names { header.add(name) }
    header.endRow()
    let bytes = header.bytes
    writing.withLock { state in
      state.failure = Self.fault { () throws(FileError) in try state.file.write(bytes) }
    }
    // The calling thread does not wait for workers that have not started; a worker that starts late finds no work.
    for _ in 1..<max(predictor.width, 1) { BlockingWork.start { self.work() } }
    work()
    let end = try ModelError.wrapping {
      try writing.wait { state -> (failure: ModelError?, result: TablePrediction.Result)? in
        guard state.running == 0 else { return nil }
        // A worker that starts after this point must not write.
        defer { state.failure = state.failure ?? ModelError(RuntimeError.cancelled) }
        return (state.failure, state.result)
      }
    }
    let isCancelled =
      end.failure?.code == .predictionCancelled || end.failure == nil && cancellation?.isCancelled == true
    if let failure = end.failure, !isCancelled {
      // Late workers can keep this run alive, so the file is closed here instead of in its `deinit`.
      writing.withLock { $0.file.abandon() }
      throw failure
    }
    return try finish(end.result, isCancelled: isCancelled)
  }

  private func finish(
    _ result: TablePrediction.Result, isCancelled: Bool
  ) throws(ModelError) -> TablePrediction.Result {
    var result = result
    result.isCancelled = isCancelled
    let partial = isCancelled ? output.map { "\($0).partial" } : nil
    let failure = writing.withLock { state in
      Self.fault { () throws(FileError) in try state.file.finish(as: partial) }
    }
    if let failure { throw failure }
    result.partialPath = partial
    return result
  }

  private func work() {
    while let claim = claim() {
      let done = Result { () throws(ModelError) in try predict(claim) }
      let isWritten: Void? = try? writing.wait { state in
        guard state.turn == claim.index || state.failure != nil else { return nil }
        return finish(claim, done, &state)
      }
      guard isWritten != nil else { return }
      writing.withLock { $0.running -= 1 }
    }
  }

  /// Writes the result of a block in its order, unless an earlier block failed.
  private func finish(_ claim: Claim, _ done: Result<TableRows, ModelError>, _ state: inout Writing) {
    guard state.failure == nil else { return }
    switch done {
    case .failure(let error): state.failure = error
    case .success(let rows):
      state.failure = Self.fault { () throws(FileError) in try state.file.write(rows.bytes) }
      state.result.rowCount += rows.count
      state.result.faultCount += rows.faults.count
      let room = max(0, Self.mostReasons - state.result.faults.count)
      state.result.faults += rows.faults.prefix(room).map { "'\(input.name)', \($0.description)" }
      progress(.init(rowCount: state.result.rowCount, fraction: (try? claim.block.get())?.fraction))
    }
    state.turn += 1
  }

  private func claim() -> Claim? {
    guard writing.withLock({ $0.failure == nil }), cancellation?.isCancelled != true else { return nil }
    return reading.withLock { reading -> Claim? in
      guard let block = next(&reading) else { return nil }
      writing.withLock { $0.running += 1 }
      reading.next += 1
      return Claim(index: reading.next - 1, block: block)
    }
  }

  private func next(_ reading: inout Reading) -> Result<TableReader.Block, ModelError>? {
    guard !reading.hasFailed else { return nil }
    do throws(ModelError) { return try reading.table.next(predictor.blockSize).map { .success($0) } } catch {
      reading.hasFailed = true
      return .failure(error)
    }
  }

  private func predict(_ claim: Claim) throws(ModelError) -> TableRows {
    let (rows, own) = try input.rows(of: claim.block.get())
    do {
      return try predictor.predict(rows, own, cancellation)
    } catch let fault as TableFault {
      throw ModelError(.featureType, "'\(input.name)', \(fault.description)")
    } catch {
      throw ModelError(error)
    }
  }

  private static func fault(_ body: () throws(FileError) -> Void) -> ModelError? {
    do throws(FileError) {
      try body()
      return nil
    } catch {
      return ModelError(error)
    }
  }
}
