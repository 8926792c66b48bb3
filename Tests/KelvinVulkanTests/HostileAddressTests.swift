import ConformanceChecks
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import TestSupport
import Testing

/// Hardware whose accesses to buffers the validation layer checks. The first reads texel views, which have the size of
/// an operand; with storage buffers, layers before 2024 report only accesses outside the whole buffer.
private let checkedCards = [VulkanDeviceOverrides(storageBuffers: 4), VulkanDeviceOverrides()]

/// The drivers compile the layer's checks for minutes.
private func checked(imitating imitation: VulkanDeviceOverrides? = nil) -> [VulkanDevice] {
  VulkanDevice.discover(
    options: VulkanOptions(validates: true, checksAccesses: true, imitating: imitation, patience: 3600)
  )
  .compactMap { $0.device as? VulkanDevice }
}

@Suite(.enabled(if: !present.isEmpty, absence))
struct HostileAddressTests {
  @Test(arguments: Tier.seeds(1, of: 20 as UInt64))
  func indicesOutsideTheirAxisAreClampedOrSkipped(seed: UInt64) throws {
    for device in present + cards { try expectIndicesAreChecked(on: device, seed: seed) }
  }

  private func expectIndicesAreChecked(on device: VulkanDevice, seed: UInt64) throws {
    for testCase in try HostileAddresses.cases(seed: seed) {
      let result = try device.run(testCase.graph, testCase.inputs).outputs[0].floats
      #expect(result == testCase.expected, "\(testCase)")
    }
    #expect(device.validationMessages == [])
  }

  @Test func resizeNeverReadsOutsideItsTensor() throws { try expectPositionsAreClamped(on: present[0]) }

  private func expectPositionsAreClamped(on device: VulkanDevice) throws {
    for (graph, input) in try HostileAddresses.resizes() {
      let weights = HostilePositions(numbersPerPosition: 4)
      let result = try device.run(graph, [input], weights: weights).outputs[0].floats
      #expect(weights.count == 1)
      #expect(result.allSatisfy { (0.999...2.001).contains($0) })
    }
    #expect(device.validationMessages == [])
  }

  @Test func onlyDevicesWhoseKernelsHaveShufflesAskTheDriverForBoundsChecks() throws {
    let graph = try depthwise()
    for device in present + imitated {
      let shaders = try device.shaders(
        of: Segment(
          graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
          blobs: NoBlobCache()))
      #expect(device.checksBounds == shaders.contains { $0.contains("_shuffle") }, "\(shaders)")
    }
    #expect(!cards.isEmpty && cards.allSatisfy { !$0.checksBounds })
  }

  @Test(
    .enabled(if: watches, "the package vulkan-validationlayers is not installed"),
    arguments: Tier.some(1, of: Array(checkedCards.indices)))
  func kernelsOfCardsAccessNothingOutsideTheirOperandsForAnyAddresses(_ index: Int) throws {
    for device in checked(imitating: checkedCards[index]) {
      try expectIndicesAreChecked(on: device, seed: UInt64(index))
      try expectPositionsAreClamped(on: device)
      for product in QuantizedProduct.all {
        let weights = HostileTables(codeBytes: product.codeBytes)
        var random = SeededGenerator(seed: 1)
        let type = product.graph[product.graph.inputs[0]].type
        let input = Tensor.random(type.scalar, type.shape, -1...1, &random)
        _ = try device.run(product.graph, [input], weights: weights)
        // SwiftShader's texels are too few for these weights, which are expanded in parts then.
        let shaders = try device.shaders(
          of: Segment(
            graph: product.graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
            blobs: NoBlobCache()))
        let readsCodes = shaders.contains { $0.contains("_coded") || $0.contains("_codes") }
        #expect((weights.count > 0) == readsCodes, "\(product)")
      }
      #expect(device.validationMessages == [])
    }
  }

  @Test(
    .slow, .enabled(if: watches, "the package vulkan-validationlayers is not installed"),
    arguments: checkedCards.indices)
  func kernelsOfCardsAccessNothingOutsideTheirOperands(_ index: Int) throws {
    for device in checked(imitating: checkedCards[index]) {
      // Each card gets other cases. All of them would take half an hour.
      for testCase in stride(from: index, to: ConformanceCase.all.count, by: 32).map({ ConformanceCase.all[$0] }) {
        for precision in [Precision.full, .low] {
          let storesHalves = precision == .low && device.storesHalves
          let outcome = try checkConformance(
            of: device, on: testCase, reference: ReferenceDevice(), precision: precision, storesHalves: storesHalves)
          let exempt = storesHalves ? ConformanceExemption.storingHalves : ConformanceExemption.all
          #expect(outcome.fault(of: testCase, on: device.info, exempt: exempt) == nil)
        }
      }
      #expect(device.validationMessages == [])
    }
  }

  /// Otherwise the tests above would pass whatever kernels do.
  @Test(.enabled(if: watches, "the package vulkan-validationlayers is not installed"))
  func layerReportsThatKernelsWithShufflesReadPastTheirWeights() throws {
    let graph = try depthwise()
    for device in checked() where device.checksBounds {
      _ = try device.run(graph, [Tensor(graph[graph.inputs[0]].type) { _ in 1 }])
      #expect(device.validationMessages.contains { $0.contains("out of bounds") })
    }
  }

  /// A depthwise convolution of many channels: nine weights of a block are no whole number of registers.
  private func depthwise() throws -> Graph {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    func origin(_ name: String) -> Origin { Origin(name: name, kind: "test", index: 0) }
    let (channels, window) = (512, Window(kernel: [3, 3]))
    let x = try builder.input("x", TensorType(.float32, [1, channels, 6, 6]))
    let weights = builder.constant("weights", Tensor([Float](repeating: 1, count: channels * 9), [channels, 1, 3, 3]))
    let convolution = Convolution(window: window, groups: channels, epilogue: Epilogue())
    builder.output(try builder.add(convolution, [x, weights], name: "node", origin: origin("node"))[0])
    return try builder.finish()
  }
}
