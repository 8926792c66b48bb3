import KelvinMeasurements
import Testing

struct StraightLineTests {
  @Test func pointsOnALineGiveTheLine() throws {
    let x = [1.0, 2, 5, 9]
    let line = try StraightLine(x, x.map { 3 + 0.5 * $0 })
    #expect(abs(line.atZero - 3) < 1e-12 && abs(line.slope - 0.5) < 1e-12 && line.residual < 1e-12)
  }

  /// Of a step, half of the points are off by what it is of the line there.
  @Test func residualIsRelativeToTheLine() throws {
    let line = try StraightLine([0, 1, 2, 3], [9, 11, 11, 9])
    #expect(abs(line.slope) < 1e-12 && abs(line.atZero - 10) < 1e-12)
    #expect(abs(line.residual - 0.1) < 1e-12)
  }

  @Test func tooFewOrNonFinitePointsAreRefused() {
    #expect(throws: MeasurementError.self) { try StraightLine([1, 1, 2], [1, 2, 3]) }
    #expect(throws: MeasurementError.self) { try StraightLine([1, 2], [1, 2, 3]) }
    #expect(throws: MeasurementError.self) { try StraightLine([1, 2, 3], [1, .infinity, 3]) }
  }
}
