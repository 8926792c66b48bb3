/// A classifier by the nearest samples to a row; the results are the fractions of the classes.
package struct NearestNeighbors: RowFunction {
  package static let name = "nearest_neighbors"

  /// The samples, one after another.
  package let samples: [Double]
  package let width: Int
  /// The class of each sample.
  package let classes: [Int]
  package let classCount: Int
  /// The number of nearest samples that count.
  package let count: Int
  /// Whether samples are weighted by the inverse of their distance; otherwise all count equally. Samples at distance 0
  /// then exclude all others.
  package let countsByDistance: Bool

  /// Creates the classifier.
  ///
  /// - Precondition: There are as many classes as samples; `count` is 0 if there are none.
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
    // Without samples all fractions are 0.
    if classes.isEmpty { return [Double](repeating: 0, count: classCount) }
    let distances = classes.indices.map { sample in
      zip(row, samples[sample * width..<(sample + 1) * width]).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }
    // Of equal distances the first samples count; not-a-number is farther than every number.
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
