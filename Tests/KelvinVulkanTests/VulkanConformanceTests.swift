import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import Testing

/// Whether the validation layer is installed: then every test runs under it.
let watches = VulkanDevice.discover(options: VulkanOptions(validates: true)).contains { $0.device != nil }
let listings = VulkanDevice.discover(options: VulkanOptions(validates: watches))
let present = listings.compactMap { $0.device as? VulkanDevice }
/// The same devices with the kernels that hardware gets.
let plain = VulkanDevice.discover(options: VulkanOptions(validates: watches, avoidsShuffles: true))
  .compactMap { $0.device as? VulkanDevice }
let absence: Comment = "\(listings.first?.reason ?? "no Vulkan device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct VulkanConformanceTests {
  @Test(arguments: ConformanceCase.all)
  func agreesWithTheReference(_ testCase: ConformanceCase) throws {
    let hasVariants = testCase.graph.nodes.contains { $0.op is Convolution || $0.op is Linear }
    for device in present + (hasVariants ? plain : []) {
      switch try checkConformance(of: device, on: testCase, reference: ReferenceDevice()) {
      case .agrees: break
      case .differs(let difference): Issue.record("\(difference)")
      case .unsupported(let reason):
        #expect(knownGaps.contains { reason.contains($0) }, "\(testCase.name): \(reason)")
      }
      #expect(device.validationMessages == [])
    }
  }

  @Test(.enabled(if: watches, "the package vulkan-validationlayers is not installed"))
  func runsUnderTheValidationLayerInSilence() throws {
    let testCase = try #require(ConformanceCase.all.first)
    let device = present[0]
    #expect(device.isValidated)
    _ = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
    #expect(device.validationMessages == [])
  }
}

/// Operators without a kernel: their results depend on the order of the data, and the host is quick at them, or they are
/// in integers for the sake of a CPU.
private let leftToTheHost = [
  "top_k", "scatter_elements", "scatter_nd", "non_maximum_suppression", "convolution_integer", "matmul_integer",
  "binary_integer",
]

/// What the device answers where it does not run a case.
private let knownGaps =
  ["float64 values", "that are not constant", "spatial axes", "int8 values"]
  + leftToTheHost.map { "no kernel for \($0)" }
