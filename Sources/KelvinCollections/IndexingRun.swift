import Kelvin
import KelvinBasics
import KelvinEngine
import KelvinHostOperations
import KelvinIndex
import KelvinRuntime
import KelvinVision
import Synchronization

/// One update of an index. Several workers, including the calling thread, process one image after another. A worker
/// hashes, decodes and predicts an image on its own thread, so that decoding and prediction overlap without a queue.
/// The worker that completes a batch writes it.
final class IndexingRun: Sendable {
  private struct State {
    var next = 0
    var running = 0
    var batch: [IndexWriter.Record] = []
    var batchBegan = ContinuousClock.now
    var contents: [[UInt8]: Int64]
    var update: PhotoUpdate
    var done = 0
    var failure: VisionError?
  }

  private let file: IndexFile
  private let model: PhotoModel
  private let listener: @Sendable (PhotoUpdateEvent) -> Void
  private let cancellation: Cancellation
  private let work: [FolderScan.Entry]
  private let known: [ExactString: IndexWriter.Known]
  private let followsLinks: Bool
  private let state: ConditionLock<State>
  private let writer: Mutex<IndexWriter>
  private let began = ContinuousClock.now

  /// A batch is written when it reaches this size or age. A crash can lose at most one batch.
  private static let batchSize = 64
  private static let batchAge = Duration.seconds(1)

  static func update(
    _ file: IndexFile, _ model: PhotoModel, _ options: PhotoUpdateOptions,
    _ listener: @escaping @Sendable (PhotoUpdateEvent) -> Void, _ cancellation: Cancellation
  ) throws(VisionError) -> PhotoUpdate {
    let began = ContinuousClock.now
    do throws(ImageError) { try ImageCodec.prepare() } catch { throw .image(error) }
    let walk = try indexing { () throws(PhotoIndexError) in
      try FolderScan(
        file.folder, followsLinks: options.followsLinks, found: { listener(.looking(found: $0)) },
        isCancelled: { cancellation.isCancelled })
    }
    let writer = try indexing { () throws(PhotoIndexError) in
      try IndexWriter(
        file, model.facts, curves: model.curves, rebuilds: options.rebuilds,
        waiting: { listener(.waiting(process: $0)) }, isCancelled: { cancellation.isCancelled })
    }
    let known = try indexing { () throws(PhotoIndexError) in try writer.known() }
    let run = IndexingRun(file, model, walk, known, options.followsLinks, writer, listener, cancellation)
    try run.work(workers: options.workerCount ?? model.usualWorkerCount)
    return try run.finish(walk, since: began)
  }

  private init(
    _ file: IndexFile, _ model: PhotoModel, _ walk: FolderScan, _ known: [ExactString: IndexWriter.Known],
    _ followsLinks: Bool, _ writer: sending IndexWriter, _ listener: @escaping @Sendable (PhotoUpdateEvent) -> Void,
    _ cancellation: Cancellation
  ) {
    (self.file, self.model, self.listener, self.cancellation, self.known) = (file, model, listener, cancellation, known)
    self.followsLinks = followsLinks
    var update = PhotoUpdate()
    work = walk.entries.filter { known[ExactString($0.path)]?.state != $0.state }
    update.unchanged = walk.entries.count - work.count
    for fault in walk.faults { listener(.fault(path: fault.path, reason: fault.reason)) }
    let unread = walk.entries.count {
      known[ExactString($0.path)]?.state == $0.state && known[ExactString($0.path)]?.error != nil
    }
    update.unreadable = walk.faults.count + unread
    update.unchanged -= unread
    let contents = known.values.compactMap { $0.error == nil ? ($0.content, $0.id) : nil }
    state = ConditionLock(State(contents: Dictionary(contents) { first, _ in first }, update: update))
    self.writer = Mutex(writer)
  }

  private func work(workers: Int) throws(VisionError) {
    // A worker that gets a thread late finds no work left, so the update does not wait for workers that have not begun.
    for _ in 1..<max(1, min(workers, work.count)) { BlockingWork.start { self.takeImages() } }
    takeImages()
    do throws(ModelError) {
      try ModelError.wrapping { try state.wait { $0.running == 0 ? () : nil } }
    } catch { throw .prediction(error) }
    writeBatch(ifOlderThan: .zero)
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func takeImages() {
    while let entry = claim() {
      do throws(VisionError) {
        if let record = try record(of: entry, recognizing: true), !add(record),
          let seen = try self.record(of: entry, recognizing: false)
        {
          _ = add(seen)
        }
        listener(.progress(state.withLock { progress(&$0, entry.path) }))
        writeBatch(ifOlderThan: Self.batchAge)
      } catch {
        state.withLock { if $0.failure == nil { $0.failure = error } }
      }
      state.withLock { $0.running -= 1 }
    }
  }

  /// Adds a record to the batch. The order of records is kept.
  ///
  /// - Returns: False where a file was recognized by the content of another image that has meanwhile changed.
  private func add(_ record: IndexWriter.Record) -> Bool {
    state.withLock { state in
      if case .same(let other) = record.finding, state.contents[record.content] != other { return false }
      if state.batch.isEmpty { state.batchBegan = .now }
      state.batch.append(record)
      switch record.finding {
      case .seen: state.update.seen += 1
      case .same: state.update.recognized += 1
      case .unreadable: state.update.unreadable += 1
      }
      // The file's previous content can no longer be found at this path.
      if let before = known[ExactString(record.path)], before.content != record.content,
        state.contents[before.content] == before.id
      {
        state.contents[before.content] = nil
      }
      return true
    }
  }

  private func claim() -> FolderScan.Entry? {
    state.withLock { state in
      guard state.failure == nil, state.next < work.count, !cancellation.isCancelled else { return nil }
      state.next += 1
      state.running += 1
      return work[state.next - 1]
    }
  }

  private func progress(_ state: inout State, _ path: String) -> PhotoUpdateProgress {
    state.done += 1
    let seconds = (ContinuousClock.now - began).inSeconds
    let rate = seconds > 0 ? Double(state.done) / seconds : 0
    return PhotoUpdateProgress(
      done: state.done, total: work.count, rate: rate,
      timeLeft: rate > 0 ? Duration.limited(seconds: Double(work.count - state.done) / rate) : nil, path: path)
  }

  /// Returns the record of a file; nil where there is none, after the reason was reported.
  ///
  /// - Parameter recognizing: Whether the file may be identified with another image by its content.
  private func record(
    of entry: FolderScan.Entry, recognizing: Bool
  ) throws(VisionError) -> IndexWriter.Record? {
    let content: [UInt8]
    let open: OpenFile
    do throws(FileError) {
      open = try OpenFile(file.path(of: entry.path), below: followsLinks ? nil : file.folder)
      content = try ContentDigest.digest(of: open)
    } catch {
      fault(entry, error.reason)
      return nil
    }
    func record(_ finding: IndexWriter.Finding) -> IndexWriter.Record {
      IndexWriter.Record(path: entry.path, state: entry.state, content: content, finding: finding)
    }
    if recognizing, let other = state.withLock({ $0.contents[content] }) { return record(.same(as: other)) }
    let (image, hash): (DecodedImage, UInt64)
    do throws(ImageError) {
      image = try ImageCodec.decode(open)
      hash = try PerceptualHash.differences(in: image)
    } catch { return try refusal(error, of: entry).map { record(.unreadable($0)) } }
    let (classes, vector) = try look(at: image)
    guard let now = try? open.currentState(), now == open.state else {
      fault(entry, "it was written to while it was read; the next update takes it")
      return nil
    }
    return record(
      .seen(
        ImageFinding(
          width: image.width, height: image.height, hash: hash, labels: classes, embedding: vector)))
  }

  /// Returns the reason why a file is not an image, which the index stores; nil for a temporary failure, which is
  /// reported.
  ///
  /// - Throws: Errors that prevent the decoding of all images.
  private func refusal(_ error: ImageError, of entry: FolderScan.Entry) throws(VisionError) -> String? {
    switch error.code {
    case .decoderMissing, .encodingFailed, .invalidArgument: throw .image(error)
    case .unreadable:
      fault(entry, error.reason)
      return nil
    case .unknownFormat, .corrupt, .tooLarge:
      let reason = error.reason + (error.remedy.map { "; \($0)" } ?? "")
      listener(.fault(path: entry.path, reason: reason))
      return reason
    }
  }

  private func look(
    at image: DecodedImage
  ) throws(VisionError) -> (classes: [(label: String, confidence: Float)], vector: [Float]?) {
    // A prediction is not cancelled: the image has already been decoded.
    do throws(ModelError) { return try model.look(at: image, nil) } catch { throw .prediction(error) }
  }

  private func fault(_ entry: FolderScan.Entry, _ reason: String) {
    state.withLock { $0.update.unreadable += 1 }
    listener(.fault(path: entry.path, reason: reason))
  }

  /// Writes the batch if it is large enough or old enough.
  private func writeBatch(ifOlderThan age: Duration) {
    writer.withLock { writer in
      let batch = state.withLock { state -> [IndexWriter.Record] in
        if case .index = state.failure { return [] }
        guard
          state.batch.count >= Self.batchSize || ContinuousClock.now - state.batchBegan >= age
        else { return [] }
        defer { state.batch = [] }
        return state.batch
      }
      guard !batch.isEmpty else { return }
      do throws(PhotoIndexError) {
        let ids = try writer.write(batch)
        state.withLock { state in
          for (record, id) in zip(batch, ids) {
            if case .unreadable = record.finding { continue }
            state.contents[record.content] = id
          }
        }
      } catch {
        state.withLock { $0.failure = .index(error) }
      }
    }
  }

  /// Removes deleted images from the index after a complete update.
  private func finish(_ walk: FolderScan, since began: ContinuousClock.Instant) throws(VisionError) -> PhotoUpdate {
    var update = state.withLock { $0.update }
    update.isComplete = state.withLock { $0.done } == work.count && !cancellation.isCancelled
    if update.isComplete {
      let found = Set(walk.entries.map(\.path).exact)
      let gone = known.filter { path, _ in
        !found.contains(path) && !walk.unseen.contains { path.string.utf8.starts(with: $0.utf8) }
      }
      try indexing { () throws(PhotoIndexError) in
        try writer.withLock { (writer) throws(PhotoIndexError) in try writer.drop(gone.map(\.value.id)) }
      }
      update.dropped = gone.count
    }
    update.duration = ContinuousClock.now - began
    return update
  }
}
