import KelvinPlanning
import Testing

@Suite struct MemoryLimitTests {
  private static func limited(_ bytes: Int) -> String {
    Golden.chain.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": \(bytes)}")
  }

  @Test func aLimitThatDoesNotBindChangesNothing() throws {
    let solution = try PlanningProblem(text: Self.limited(16)).solve()
    #expect(solution.predicted == 32)
    #expect(solution.method == .exact)
  }

  @Test func aNodeThatDoesNotFitRunsElsewhere() throws {
    let plan = try PlanningProblem(text: Self.limited(15)).explain()
    #expect(plan.solution.predicted == 100)
    #expect(Set(plan.solution.placement.values) == ["cpu"])
    #expect(plan.nodes[1].reason == "its values do not fit on gpu")
  }

  /// With `d` on the gpu, `x` would stay there while `c` makes `z` from `y`: 24 bytes.
  @Test func aPlanThatWouldHoldTooMuchIsReplacedAndSaysItsGap() throws {
    let text = Golden.chain.replacing("\"inputs\": [\"z\"]", with: "\"inputs\": [\"z\", \"x\"]")
      .replacing("{\"value\": \"out\", \"bytes\": 8}", with: "{\"value\": \"out\", \"bytes\": 0}")
      .replacing("{\"cpu\": 10, \"gpu\": 30}}\n ]", with: "{\"cpu\": 10, \"gpu\": 1}}\n ]")
    let free = try PlanningProblem(text: text).solve()
    #expect(free.placement["d"] == "gpu")
    let tight = try PlanningProblem(text: text.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": 16}")).solve()
    #expect(tight.predicted > free.predicted)
    #expect(tight.method == .approximate)
    #expect(tight.lowerBound == free.predicted)
    #expect(tight.gap > 0)
    #expect(tight.placement["d"] == "cpu")
  }

  @Test func namesTheNodeWhenNothingFits() {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": 8, \"cpu\": 8}")
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text).solve() }
    #expect(error?.code == .infeasible)
    #expect(error?.node != nil)
  }
}
