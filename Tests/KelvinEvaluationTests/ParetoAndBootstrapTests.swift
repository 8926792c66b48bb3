import KelvinEvaluation
import Testing

@Suite struct ParetoAndBootstrapTests {
  @Test func frontHoldsTheUndominatedPoints() {
    let points: [(cost: Double, quality: Double)] = [
      (4, 0.7), (1, 0.5), (2, 0.5), (3, 0.8), (9, 0.9), (9, 0.9), (9, 0.85), (0.5, .nan),
    ]
    #expect(ParetoFront.members(of: points) == [1, 3, 4, 5])
    #expect(ParetoFront.members(of: []).isEmpty)
  }

  @Test func equalCostsKeepOnlyTheBest() {
    #expect(ParetoFront.members(of: [(1, 0.2), (1, 0.4), (1, 0.3)]) == [1])
  }

  /// Of a mean the interval is near that of the normal distribution: ± 1.96 deviations of the mean.
  @Test func bootstrapIntervalIsNearTheNormalOne() throws {
    let values = (0..<400).map { Double($0 * 7919 % 400) }
    let interval = try #require(
      Bootstrap.interval(of: values.count) { drawn in drawn.reduce(0) { $0 + values[$1] } / Double(drawn.count) })
    let reach = 1.96 * (399.0 * 401 / 12 / 400).squareRoot()
    #expect(abs(interval.lowerBound - (199.5 - reach)) < 1)
    #expect(abs(interval.upperBound - (199.5 + reach)) < 1)
  }

  @Test func tooFewSamplesHaveNoInterval() {
    #expect(Bootstrap.interval(of: 1) { _ in 1 } == nil)
    #expect(Bootstrap.interval(of: 9) { _ in nil } == nil)
    #expect(Bootstrap.interval(of: 3) { _ in 2 } == 2...2)
  }
}
