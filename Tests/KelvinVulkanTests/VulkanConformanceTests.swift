import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import Testing

/// The devices of this machine under the validation layer, where it is installed, and then once more with the kernels
/// that hardware gets.
let listings: [DeviceListing] = {
  let watched = VulkanDevice.discover(options: VulkanOptions(validates: true))
  return watched.contains { $0.device != nil } ? watched : VulkanDevice.discover()
}()
let present = listings.compactMap { $0.device as? VulkanDevice }
let plain = VulkanDevice.discover(options: VulkanOptions(avoidsShuffles: true)).compactMap(\.device)
let absence: Comment = "\(listings.first?.reason ?? "no Vulkan device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct VulkanConformanceTests {
  @Test(arguments: ConformanceCase.all)
  func agreesWithTheReference(_ testCase: ConformanceCase) throws {
    for device in present as [any Device] + plain {
      switch try checkConformance(of: device, on: testCase, reference: ReferenceDevice()) {
      case .agrees: break
      case .differs(let difference): Issue.record("\(difference)")
      case .unsupported(let reason):
        #expect(knownGaps.contains { reason.contains($0) }, "\(testCase.name): \(reason)")
      }
    }
  }
}

/// What the device answers where it does not run a case.
private let knownGaps = ["int", "bool", "float64", "that are not constant", "spatial axes"]
