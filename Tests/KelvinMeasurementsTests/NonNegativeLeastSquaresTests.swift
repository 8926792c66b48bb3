import KelvinBasics
import KelvinMeasurements
import Testing

struct NonNegativeLeastSquaresTests {
  @Test func exactSolutionIsFound() {
    var generator = SeededGenerator(seed: 5)
    let truth = [3e-5, 0, 2e-10, 1.5e-4]
    let rows = (0..<12).map { _ in
      [1 + 60 * generator.unit(), 5 * generator.unit(), 4e6 * generator.unit(), (8 * generator.unit()).rounded()]
    }
    let targets = rows.map { zip($0, truth).reduce(0) { $0 + $1.0 * $1.1 } }
    let found = NonNegativeLeastSquares.solve(rows, targets)
    for (found, truth) in zip(found, truth) {
      #expect(abs(found - truth) <= (truth > 0 ? 1e-5 * truth : 1e-9), "\(found)")
    }
  }

  @Test(arguments: 0..<200)
  func noSubsetOfColumnsFitsBetter(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    let columns = 1 + generator.index(below: 5)
    let rows = (0..<columns + 3).map { _ in (0..<columns).map { _ in generator.unit() } }
    let targets = rows.map { _ in 2 * generator.unit() - 0.7 }
    func error(_ x: [Double]) -> Double {
      zip(rows, targets).reduce(0) { sum, entry in
        let residual = zip(entry.0, x).reduce(-entry.1) { $0 + $1.0 * $1.1 }
        return sum + residual * residual
      }
    }
    let x = NonNegativeLeastSquares.solve(rows, targets)
    #expect(x.allSatisfy { $0 >= 0 }, "seed \(seed)")
    // At the optimum no small step within the bounds helps (the conditions of Karush, Kuhn and Tucker).
    for column in 0..<columns {
      for step in [1e-5, -1e-5] where x[column] + step >= 0 {
        var other = x
        other[column] += step
        #expect(error(other) >= error(x) - 1e-9, "seed \(seed), column \(column)")
      }
    }
  }

  @Test func identicalColumnsShareTheirSum() {
    let found = NonNegativeLeastSquares.solve([[1, 1, 0], [2, 2, 0]], [4, 8])
    #expect(abs(found[0] - 2) < 1e-6 && abs(found[1] - 2) < 1e-6 && found[2] == 0)
  }
}
