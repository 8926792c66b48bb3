import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct HostileAddressTests {
  @Test(arguments: driven.keys.sorted())
  func indicesOutsideTheirAxisAreClamped(_ name: String) throws {
    let device = try #require(driven[name])
    for testCase in try HostileAddresses.gathers() {
      let result = try device.run(testCase.graph, testCase.inputs).outputs[0].floats
      #expect(result == testCase.expected, "\(testCase)")
    }
  }

  @Test(arguments: driven.keys.sorted())
  func resizeNeverReadsOutsideItsTensor(_ name: String) throws {
    let device = try #require(driven[name])
    for (graph, input) in try HostileAddresses.resizes() {
      let weights = HostilePositions(numbersPerPosition: 3)
      let result = try device.run(graph, [input], weights: weights).outputs[0].floats
      #expect(weights.count == 1)
      #expect(result.allSatisfy { (0.999...2.001).contains($0) })
    }
  }
}
