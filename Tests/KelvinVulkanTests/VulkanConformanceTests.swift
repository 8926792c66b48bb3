import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import TestSupport
import Testing

/// Whether the validation layer is installed: then every test runs under it.
let watches = VulkanDevice.discover(options: VulkanOptions(validates: true)).contains { $0.device != nil }
let listings = VulkanDevice.discover(options: VulkanOptions(validates: watches))
private let renewed = RenewedDevices {
  VulkanDevice.discover(options: VulkanOptions(validates: watches)).compactMap { $0.device as? VulkanDevice }
}
var present: [VulkanDevice] { renewed.all }
/// The same devices taken for others: a card that the host does not see into; hardware with the least that the specification
/// asks for; a driver whose memory is slow to read and whose texels are few; a newer Mesa's.
let imitations = [
  VulkanDeviceOverrides(memory: .unmappable, acceleratesDotProducts: true),
  VulkanDeviceOverrides(texelLimit: 1 << 16, storageLimit: 1 << 27, storageBuffers: 4, subgroupSize: 64),
  VulkanDeviceOverrides(isHardware: false, memory: .uncached, texelLimit: 1 << 16, subgroupSize: 4),
  VulkanDeviceOverrides(isHardware: false, mesaMajor: 25),
]
private let byImitation = imitations.map { imitation in
  (imitation, RenewedDevices { devices(imitating: imitation) })
}
var imitated: [VulkanDevice] { byImitation.flatMap(\.1.all) }
/// The imitations of hardware.
var cards: [VulkanDevice] { byImitation.filter(\.0.isHardware).flatMap(\.1.all) }
/// The imitations whose texel limit is too small for the weights of Winograd's tiles.
var seeingFew: [VulkanDevice] { byImitation.filter { $0.0.storageBuffers != nil }.flatMap(\.1.all) }
/// Whether the driver lets them read and write 16 bits, as SwiftShader does not.
let storesHalves = cards.allSatisfy(\.storesHalves)
/// Whether it computes in float16.
let multipliesHalves = cards.allSatisfy(\.multipliesHalves)
/// The subgroups of most cards, whose size affects products only.
private let subgroupSizes = [16, 32]
/// Software devices whose dot products of bytes count as fast.
private func multiplying() -> [VulkanDevice] {
  devices(imitating: VulkanDeviceOverrides(isHardware: false, acceleratesDotProducts: true))
}

/// Whether every shader is reached on one of these devices: software drivers alone have permutations.
private let reachesEveryShader =
  storesHalves && present.contains { $0.info.driver.hasPrefix("llvmpipe") }

/// Of a row of `Shaders/variants.txt`: what knows bounds alone as activations counts as the other.
private func kind(_ shader: String) -> String {
  shader.hasSuffix("_bounded") ? String(shader.dropLast("_bounded".count)) : shader
}

private func devices(imitating imitation: VulkanDeviceOverrides) -> [VulkanDevice] {
  VulkanDevice.discover(options: VulkanOptions(validates: watches, imitating: imitation))
    .compactMap { $0.device as? VulkanDevice }
}

extension ConformanceCase {
  /// Whether kernels with tiles compute it.
  fileprivate var isProduct: Bool {
    graph.nodes.contains { node in
      node.op is Attention || node.op is Convolution || node.op is Linear || node.op is MatMul
    }
  }

  fileprivate var isIntegerProduct: Bool {
    graph.nodes.contains { $0.op is ConvolutionInteger || $0.op is MatMulInteger }
  }
}

let absence: Comment = "\(listings.first?.reason ?? "no Vulkan device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct VulkanConformanceTests {
  @Test(arguments: ConformanceCase.all)
  func conformsOrIsExempt(_ testCase: ConformanceCase) throws {
    for device in present { try expectConformance(device, on: testCase) }
  }

  /// Each device exists during its test only, since it keeps every pipeline that it compiled.
  @Test(.slow, arguments: imitations.indices)
  func imitationConformsOrIsExempt(_ index: Int) throws {
    let reference = ReferenceDevice()
    for device in devices(imitating: imitations[index]) {
      for testCase in ConformanceCase.all {
        try expectConformance(device, on: testCase)
        try expectSpecialValues(device, on: testCase, reference)
        if imitations[index].isHardware { try expectRoundedValues(device, on: testCase, reference) }
      }
    }
  }

  @Test(.slow, arguments: subgroupSizes)
  func conformsOnProductsForAnySubgroupSize(_ size: Int) throws {
    for device in devices(imitating: VulkanDeviceOverrides(subgroupSize: size)) {
      for testCase in ConformanceCase.all where testCase.isProduct { try expectConformance(device, on: testCase) }
    }
  }

  @Test(.slow) func conformsOnFastByteProducts() throws {
    for device in multiplying() {
      for testCase in ConformanceCase.all where testCase.isIntegerProduct {
        try expectConformance(device, on: testCase)
      }
    }
  }

  private func expectConformance(_ device: VulkanDevice, on testCase: ConformanceCase) throws {
    let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
    #expect(outcome.fault(of: testCase, on: device.info) == nil)
    #expect(device.validationMessages == [])
  }

  /// On two devices whose kernels see few elements of a tensor, so that many have to be computed in parts.
  @Test(.slow, arguments: [true, false]) func conformsOnTensorsSplitIntoParts(isHardware: Bool) throws {
    let narrow = VulkanDeviceOverrides(isHardware: isHardware, texelLimit: 768, storageLimit: 2560)
    for device in devices(imitating: narrow) {
      let faults = try partsFaults(of: device, reference: ReferenceDevice())
      #expect(faults == [])
      #expect(device.validationMessages == [])
    }
  }

  @Test func loopsStayWithinTheIterationLimit() throws {
    for device in present + (Tier.isSlow ? imitated : []) {
      #expect(try longLoopFaults(of: device, reference: ReferenceDevice()) == [])
      #expect(device.validationMessages == [])
    }
  }

  @Test(arguments: Tier.sample(100, of: ConformanceCase.all))
  func specialValuesMatchTheReference(_ testCase: ConformanceCase) throws {
    for device in present { try expectSpecialValues(device, on: testCase, ReferenceDevice()) }
  }

  private func expectSpecialValues(
    _ device: VulkanDevice, on testCase: ConformanceCase, _ reference: ReferenceDevice
  ) throws {
    for outcome in try checkSpecialValues(of: [device], on: testCase, reference: reference) {
      #expect(outcome.fault(of: testCase, on: device.info) == nil)
      #expect(device.validationMessages == [])
    }
  }

  /// Hardware stores float32 as float16 at low precision, where the driver has it.
  private func expectRoundedValues(
    _ device: VulkanDevice, on testCase: ConformanceCase, _ reference: ReferenceDevice
  ) throws {
    let outcome = try checkConformance(
      of: device, on: testCase, reference: reference, precision: .low, storesHalves: device.storesHalves)
    let special = try checkSpecialValues(
      of: [device], on: testCase, reference: reference, precision: .low, storesHalves: device.storesHalves)
    let exempt = device.storesHalves ? ConformanceExemption.storingHalves : ConformanceExemption.all
    #expect(([outcome] + special).compactMap { $0.fault(of: testCase, on: device.info, exempt: exempt) } == [])
    #expect(device.validationMessages == [])
  }

  @Test func everySelfTestPasses() throws { try expectSelfTests(present, isCard: false) }

  @Test(.slow, arguments: imitations.indices) func everySelfTestOfAnImitationPasses(_ index: Int) throws {
    let imitation = imitations[index]
    try expectSelfTests(
      devices(imitating: imitation), isCard: imitation.isHardware, seesFew: imitation.storageBuffers != nil)
  }

  @Test(.slow, arguments: subgroupSizes) func everySelfTestPassesForAnySubgroupSize(_ size: Int) throws {
    try expectSelfTests(devices(imitating: VulkanDeviceOverrides(subgroupSize: size)), isCard: true)
  }

  /// - Parameter seesFew: whether kernels see too few texels for the weights of Winograd's tiles.
  private func expectSelfTests(_ devices: [VulkanDevice], isCard: Bool, seesFew: Bool = false) throws {
    for device in devices {
      let example = try SelfTest.example(of: SelfTest.all, on: device)
      // Support of cooperative matrices depends on the driver.
      let made = zip(example.nodes.graph.nodes, example.tests).filter { node, test in
        let (family, graph) = (device.kernelFamily, example.nodes.graph)
        return test.implementation.map(
          family.implementations(of: node, in: graph, precision: test.precision).contains) ?? true
      }.map(\.1)
      for (implementation, isOffered) in [
        ("winograd", !seesFew), ("groups", isCard), ("codes", isCard), ("staged", isCard),
        ("rectangles", isCard),
        ("staged in float16", isCard && device.multipliesHalves && !device.multipliesMatrices),
        ("cooperative", device.multipliesMatrices), ("winograd-4", isCard && device.storesHalves),
      ] where isOffered {
        #expect(made.contains { $0.implementation == implementation }, "\(implementation)")
      }
      let trust = KernelTrust(driver: "", identity: "every self-test")
      for precision in [Precision.full, .low] {
        trust.examine(example.nodes.graph, precision, on: device, against: ReferenceDevice(), blobs: NoBlobCache())
      }
      #expect(trust.faults == [])
      #expect(trust.examined.isSuperset(of: made.map(\.name)))
    }
  }

  @Test func everyKernelANodeUsesHasASelfTest() throws { try expectReach(of: present) }

  @Test(.slow, arguments: imitations.indices) func everyKernelOfAnImitationHasASelfTest(_ index: Int) throws {
    try expectReach(of: devices(imitating: imitations[index]))
  }

  @Test(.slow) func everyProductKernelHasASelfTest() throws {
    try expectReach(of: multiplying())
    for size in subgroupSizes { try expectReach(of: devices(imitating: VulkanDeviceOverrides(subgroupSize: size))) }
  }

  private func expectReach(of devices: [VulkanDevice]) throws {
    for device in devices { try expectReach(of: device) }
  }

  private func expectReach(of device: VulkanDevice) throws {
    let reach = try SelfTestCoverage(device) { Set(try device.shaders(of: $0).map(kind)) }
    for testCase in ConformanceCase.all {
      for precision in [Precision.full, .low] {
        let untested = try reach.untested(testCase.graph, precision)
        #expect(untested == [], "\(testCase), \(precision)")
      }
    }
  }

  @Test(.slow, .enabled(if: reachesEveryShader, "no driver here takes shaders with permutations"))
  func everyShaderIsRunByASelfTest() throws {
    var untested = Set(try shaderRows().map { kind($0[0]) })
    // No driver that is installed beside the tests has matrices; the latest lavapipe of `dev/gpu-shader-report.sh` has.
    untested = untested.filter { !$0.contains("_cooperative") }
    for device in present + imitated {
      untested.subtract(try SelfTestCoverage(device) { Set(try device.shaders(of: $0).map(kind)) }.all)
    }
    #expect(untested == [])
  }

  @Test(.enabled(if: watches, "the package vulkan-validationlayers is not installed"))
  func validationLayerReportsNothing() throws {
    let testCase = try #require(ConformanceCase.all.first)
    let device = present[0]
    #expect(device.isValidated)
    _ = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
    #expect(device.validationMessages == [])
  }
}
