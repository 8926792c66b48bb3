import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct WinogradTests {
  /// One such number would spoil a whole tile.
  @Test(.slow, arguments: [Float.infinity, -.infinity, .nan, 3e38])
  func winogradTilesKeepSpecialValuesLocal(number: Float) throws {
    let tiles = try SpoiledTiles([2, 174, 13, 10], filters: 178, number: number, reference: ReferenceDevice())
    for device in present + imitated {
      let implementations = device.kernelFamily.implementations(of: tiles.graph.nodes[0], in: tiles.graph)
      #expect(implementations.contains("winograd") == !seeingFew.contains { $0 === device })
      #expect(try tiles.wrongCount(on: device) == 0)
    }
  }

  /// A CPU driver whose kernels see this little memory.
  @Test(.slow) func largeWinogradTilesAreTransformedInParts() throws {
    let imitation = VulkanDeviceOverrides(isHardware: false, storageLimit: 1 << 20)
    let small = VulkanDevice.discover(options: VulkanOptions(imitating: imitation)).compactMap {
      $0.device as? VulkanDevice
    }
    for device in small {
      // How many channels it takes for them to be sooner done depends on the tiles of taps.
      var tiles: SpoiledTiles?
      for channels in [128, 256, 512] where tiles == nil {
        let each = try SpoiledTiles([1, channels, 37, 34], filters: channels, number: 1, reference: ReferenceDevice())
        if device.kernelFamily.implementations(of: each.graph.nodes[0], in: each.graph).contains("winograd") {
          tiles = each
        }
      }
      #expect(try #require(tiles).wrongCount(on: device) == 0)
    }
  }

  /// Large tiles are for values stored as float16 at low precision.
  @Test(.slow, .enabled(if: storesHalves, wordsAlone), arguments: [Float.infinity, -.infinity, .nan, 60_000])
  func largeTilesKeepSpecialValuesLocal(number: Float) throws {
    let tiles = try SpoiledTiles([2, 19, 14, 11], filters: 21, number: number, reference: ReferenceDevice())
    for card in cards { #expect(try tiles.wrongCount(on: card, low: "winograd-4") == 0) }
  }

  /// Edges of images, several images, channels that do not fill blocks, residuals.
  @Test(.slow, .enabled(if: storesHalves, wordsAlone), arguments: ConformanceCase.convolution)
  func largeTilesConform(_ testCase: ConformanceCase) throws {
    let (graph, node) = (testCase.graph, testCase.graph.nodes[0])
    for card in cards {
      let family = card.kernelFamily
      #expect(!family.implementations(of: node, in: graph).contains("winograd-4"))
      let isOffered = family.implementations(of: node, in: graph, precision: .low).contains("winograd-4")
      let isLarge = testCase.name.contains("deep") && seeingFew.contains { $0 === card }
      #expect(isOffered || isLarge || !testCase.name.hasPrefix("convolution 3x3 tiles"), "\(testCase)")
      guard isOffered else { continue }
      let outcome = try checkConformance(
        of: card, on: testCase, reference: ReferenceDevice(), precision: .low, storesHalves: true,
        implementation: "winograd-4")
      #expect(outcome == .agrees)
      #expect(card.validationMessages == [])
    }
  }

  /// Deep layers with many positions, unless a card multiplies matrices: their products are not many times as fast.
  @Test(.enabled(if: storesHalves, wordsAlone)) func largeTilesAreChosenByCounts() throws {
    for card in cards where !card.multipliesMatrices && !seeingFew.contains(where: { $0 === card }) {
      let family = card.kernelFamily
      #expect(try chosen(from: family, channels: 512, side: 128) == "winograd-4")
      #expect(try chosen(from: family, channels: 320, side: 14) != "winograd-4", "weights take more than tiles")
      #expect(try chosen(from: family, channels: 32, side: 16) != "winograd-4")
      #expect(try chosen(from: family, channels: 512, side: 128, groups: 4) != "winograd-4")
    }
  }

  /// Returns the cheapest implementation of a 3 × 3 convolution at low precision.
  private func chosen(from family: some KernelFamily, channels: Int, side: Int, groups: Int = 1) throws -> String {
    var graph = Graph()
    let shape: Shape = [1, channels, side, side]
    let taps: Shape = [channels, channels / groups, 3, 3]
    let filters = Tensor([Float](repeating: 0, count: taps.count), taps)
    let x = graph.addValue(Value(name: "x", type: TensorType(.float32, shape)))
    let weights = graph.addValue(Value(name: "w", type: filters.type, weight: Weight(filters)))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float32, shape)))
    let op = Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1]), groups: groups)
    graph.nodes = [Node(name: "node", op: op, inputs: [x, weights], outputs: [y], origins: [])]
    (graph.inputs, graph.outputs) = ([x], [y])
    let offers = try family.offers(for: KernelRequest(graph.nodes[0], in: graph, precision: .low))
    return try #require(offers.min { $0.extraCost < $1.extraCost }).key
  }

  @Test func fewChannelsUseTheDirectConvolution() throws {
    let tiles = try SpoiledTiles([1, 8, 13, 10], filters: 8, number: 1, reference: ReferenceDevice())
    for device in present + imitated {
      #expect(!device.kernelFamily.implementations(of: tiles.graph.nodes[0], in: tiles.graph).contains("winograd"))
    }
  }
}
