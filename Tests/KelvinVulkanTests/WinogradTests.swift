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

  @Test func fewChannelsUseTheDirectConvolution() throws {
    let tiles = try SpoiledTiles([1, 8, 13, 10], filters: 8, number: 1, reference: ReferenceDevice())
    for device in present + imitated {
      #expect(!device.kernelFamily.implementations(of: tiles.graph.nodes[0], in: tiles.graph).contains("winograd"))
    }
  }
}
