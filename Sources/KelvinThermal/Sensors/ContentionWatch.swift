package import KelvinMeasurements

/// Asks again and again what others took of the processors since the last time.
package struct ContentionWatch {
  /// `/proc/stat` counts in hundredths of a second: shorter intervals say nothing.
  package static let shortest = 0.25

  private let reader: ContentionReader
  private var last: ContentionCounters?
  private var since: Double

  /// - Parameter companions: processes whose time is not a neighbour's.
  package init(files: SystemFiles, at now: Double, companions: [Int32] = []) {
    reader = ContentionReader(files, companions: companions)
    last = reader.counters()
    since = now
  }

  /// The contention since the interval before, or nil where too little time has passed to tell.
  package mutating func interval(at now: Double) -> Contention? {
    guard now - since >= Self.shortest else { return nil }
    let counters = reader.counters()
    defer {
      last = counters
      since = now
    }
    guard let last, let counters else { return nil }
    return ContentionReader.between(last, counters, seconds: now - since)
  }
}
