/// The classes of the samples that lie nearest to a row, as shares.
package struct NearestNeighbors: RowFunction {
  package static let name = "nearest_neighbors"

  /// Sample after sample.
  package let samples: [Double]
  package let width: Int
  /// The class of each sample.
  package let classes: [Int]
  package let classCount: Int
  /// How many samples are asked.
  package let count: Int
  /// Whether a sample counts by the inverse of its distance, else as much as any other. Those at the place of the row
  /// itself then count alone.
  package let countsByDistance: Bool

  /// - Precondition: there are as many classes as samples; where there are none, none is asked.
  package init(
    samples: [Double], width: Int, classes: [Int], classCount: Int, count: Int, countsByDistance: Bool
  ) {
    precondition(samples.count == classes.count * width && classCount > 0)
    precondition(count <= classes.count && (count > 0 || classes.isEmpty))
    self.samples = samples
    self.width = width
    self.classes = classes
    self.classCount = classCount
    self.count = count
    self.countsByDistance = countsByDistance
  }

  package var widths: ClosedRange<Int> { width...width }
  package func resultCount(of width: Int) -> Int { classCount }

  package func results(_ rows: NumberRows) -> [Double] { (0..<rows.count).flatMap { shares(rows[$0]) } }

  private func shares(_ row: ArraySlice<Double>) -> [Double] {
    // Shares of nothing are none.
    if classes.isEmpty { return [Double](repeating: 0, count: classCount) }
    let distances = classes.indices.map { sample in
      zip(row, samples[sample * width..<(sample + 1) * width]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
    // Of equal distances the first samples; what is not a number is farther than any.
    func isNearer(_ first: Int, _ second: Int) -> Bool {
      let (a, b) = (distances[first], distances[second])
      if a.isNaN || b.isNaN { return a.isNaN == b.isNaN ? first < second : b.isNaN }
      return a == b ? first < second : a < b
    }
    let nearest = classes.indices.sorted(by: isNearer).prefix(count)
    let isThere = nearest.contains { distances[$0] == 0 }
    var shares = [Double](repeating: 0, count: classCount)
    for sample in nearest {
      let distance = distances[sample].squareRoot()
      shares[classes[sample]] += !countsByDistance ? 1 : isThere ? (distance == 0 ? 1 : 0) : 1 / distance
    }
    let whole = shares.reduce(0, +)
    return shares.map { $0 / whole }
  }
}
