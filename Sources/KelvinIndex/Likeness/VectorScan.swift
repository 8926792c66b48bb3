import Dispatch
import Synchronization

/// The products of a vector with all that an index has, each exact. Rows are stepped through by as many threads as there are
/// connections, each in a range of pictures of its own: SQLite's part of the work is as large as the arithmetic.
struct VectorScan {
  typealias Score = (picture: Int64, score: Float)

  private let unit: [UInt8]
  private let count: Int

  /// - Parameters:
  ///   - unit: `count` float32, of length 1.
  init(_ unit: [UInt8], count: Int) { (self.unit, self.count) = (unit, count) }

  /// A connection, which one thread uses at a time.
  private struct Lane: @unchecked Sendable {
    let database: Database
    let pictures: ClosedRange<Int64>
  }

  /// - Parameter databases: of one moment, at least one.
  /// - Returns: by pictures, in their order. Vectors of another length, and those that are not numbers, are left out.
  func scores(_ databases: [Database]) throws(PhotoIndexError) -> [Score] {
    let last = try databases[0].number("SELECT max(picture) FROM embeddings")
    let first = try databases[0].number("SELECT min(picture) FROM embeddings")
    let lanes = Self.lanes(first...max(last, first), databases)
    guard lanes.count > 1 else { return try scores(lanes[0]) }
    let parts = Mutex<[Int: Result<[Score], PhotoIndexError>]>([:])
    DispatchQueue.concurrentPerform(iterations: lanes.count) { index in
      let part = Result { () throws(PhotoIndexError) in try self.scores(lanes[index]) }
      parts.withLock { $0[index] = part }
    }
    let all = parts.withLock { $0 }
    var scores: [Score] = []
    for index in lanes.indices { if let part = all[index] { scores += try part.get() } }
    return scores
  }

  /// Ranges of about the same width: numbers of pictures that are gone leave few gaps.
  private static func lanes(_ pictures: ClosedRange<Int64>, _ databases: [Database]) -> [Lane] {
    // Numbers that no index has, but a file may, are left to one thread.
    guard pictures.lowerBound >= 0, pictures.upperBound < 1 << 62 else {
      return [Lane(database: databases[0], pictures: .min ... .max)]
    }
    let width = (pictures.upperBound - pictures.lowerBound) / Int64(databases.count) + 1
    return databases.enumerated().map { place, database in
      let start = pictures.lowerBound + Int64(place) * width
      return Lane(database: database, pictures: start...start + width - 1)
    }
  }

  private func scores(_ lane: Lane) throws(PhotoIndexError) -> [Score] {
    var scores: [Score] = []
    let rows = try lane.database.prepare("SELECT picture, vector FROM embeddings WHERE picture BETWEEN ? AND ?")
    try rows.bind([.integer(lane.pictures.lowerBound), .integer(lane.pictures.upperBound)])
    try unit.withUnsafeBufferPointer { (unit) throws(PhotoIndexError) in
      guard let wanted = UnsafeRawPointer(unit.baseAddress) else { return }
      while try rows.step() {
        let score: Float? = rows.withBytes(1) { bytes in
          guard bytes.count == unit.count, let start = bytes.baseAddress else { return nil }
          return UnitVector.product(start, wanted, count: count)
        }
        if let score, score.isFinite { scores.append((rows.integer(0), score)) }
      }
    }
    return scores
  }
}
