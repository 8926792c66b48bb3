import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct HostileAddressTests {
  @Test(arguments: drivenNames, Tier.seeds(1, of: 20 as UInt64))
  func indicesOutsideTheirAxisAreClampedOrSkipped(_ name: String, seed: UInt64) throws {
    let device = try #require(driven[name])
    for testCase in try HostileAddresses.cases(seed: seed) {
      let result = try device.run(testCase.graph, testCase.inputs).outputs[0].floats
      #expect(result == testCase.expected, "\(testCase)")
    }
  }

  /// A read far outside would end the process.
  @Test(arguments: drivenNames)
  func tablesOfQuantizedWeightsAreNeverReadOutsideTheirWeight(_ name: String) throws {
    let device = try #require(driven[name])
    for product in QuantizedProduct.all {
      let weights = HostileTables(codeBytes: product.codeBytes)
      var random = SeededGenerator(seed: 1)
      let type = product.graph[product.graph.inputs[0]].type
      let input = Tensor.random(type.scalar, type.shape, -1...1, &random)
      _ = try device.run(product.graph, [input], weights: weights)
      #expect(weights.count > 0 || device.info.kind == .software, "\(product)")
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
