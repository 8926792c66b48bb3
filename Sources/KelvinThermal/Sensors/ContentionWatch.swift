package import KelvinMeasurements

/// Measures contention over successive intervals.
package struct ContentionWatch {
  /// The shortest interval; `/proc/stat` counts in hundredths of a second.
  package static let shortest = 0.25

  private let reader: ContentionReader
  private var last: ContentionCounters?
  private var since: Double

  /// - Parameter companions: processes whose time counts as this process's own.
  package init(files: SystemFiles, at now: Double, companions: [Int32] = []) {
    reader = ContentionReader(files, companions: companions)
    last = reader.counters()
    since = now
  }

  /// Returns the contention since the previous interval; nil when too little time has passed.
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
