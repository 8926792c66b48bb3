import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinVulkan
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct HostileAddressTests {
  @Test
  func indicesOutsideTheirAxisAreClamped() throws {
    let device = present[0]
    for testCase in try HostileAddresses.gathers() {
      let result = try device.run(testCase.graph, testCase.inputs).outputs[0].floats
      #expect(result == testCase.expected, "\(testCase)")
    }
  }

  @Test
  func resizeNeverReadsOutsideItsTensor() throws {
    let device = present[0]
    for (graph, input) in try HostileAddresses.resizes() {
      let weights = HostilePositions(numbersPerPosition: 4)
      let result = try device.run(graph, [input], weights: weights).outputs[0].floats
      #expect(weights.count == 1)
      #expect(result.allSatisfy { (0.999...2.001).contains($0) })
    }
  }
}
