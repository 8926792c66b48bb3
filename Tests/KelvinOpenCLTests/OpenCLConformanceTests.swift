import ConformanceChecks
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import KelvinReference
import TestSupport
import Testing

/// The devices of this machine, and the first again, driven as graphics cards are.
let listings = OpenCLDevice.discover()
private let renewed = RenewedDevices { openclDevices(imitating: OpenCLDeviceOverrides()) }
private let renewedCards = [DeviceInfo.Kind.discreteGPU, .integratedGPU].map { (kind: DeviceInfo.Kind) in
  (kind, RenewedDevices { Array(openclDevices(imitating: OpenCLDeviceOverrides(kind: kind)).prefix(1)) })
}
var present: [any Device] { renewed.all }
var driven: [String: any Device] {
  var devices: [String: any Device] = [:]
  for device in present { devices[device.info.id] = device }
  for (kind, imitations) in renewedCards {
    for imitation in imitations.all { devices["\(imitation.info.id) as \(kind.rawValue)"] = imitation }
  }
  return devices
}
/// The names of `driven`, those of imitations last.
let drivenNames = driven.keys.sorted { ($0.contains(" as ") ? 1 : 0, $0) < ($1.contains(" as ") ? 1 : 0, $1) }

private func openclDevices(imitating imitation: OpenCLDeviceOverrides) -> [OpenCLDevice] {
  OpenCLDevice.discover(imitating: imitation).compactMap { $0.device as? OpenCLDevice }
}

/// The devices of one imitation. Each exists during its test only, since it keeps every program that it built.
private func devices(imitating imitation: OpenCLDeviceOverrides) -> [any Device] {
  OpenCLDevice.discover(imitating: imitation).compactMap(\.device)
}

extension ConformanceCase {
  /// Whether tiles that depend on a processor's vectors compute it.
  var isProductInTiles: Bool {
    isIntegerProduct
      || graph.nodes.contains {
        $0.op is Convolution || $0.op is ConvolutionTranspose || $0.op is Linear || $0.op is MatMul
      }
  }
  var isIntegerProduct: Bool {
    graph.nodes.contains { $0.op is ConvolutionInteger || $0.op is MatMulInteger }
  }
}

/// The exemptions on a device of `driven`. One that is driven as a card has groups, though its driver is software.
private func exemptions(
  _ name: String, from all: [ConformanceExemption] = ConformanceExemption.all
) -> [ConformanceExemption] {
  name.contains(" as ") ? all.filter { $0.kind != .software } : all
}

let absence: Comment = "\(listings.first?.reason ?? "no OpenCL device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct OpenCLConformanceTests {
  @Test(arguments: Tier.some(present.count, of: drivenNames), ConformanceCase.all)
  func conformsOrIsExempt(_ name: String, _ testCase: ConformanceCase) throws {
    let device = try #require(driven[name])
    let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
    #expect(outcome.fault(of: testCase, on: device.info, exempt: exemptions(name)) == nil)
  }

  @Test(.slow) func conformsOnPackedByteProducts() throws {
    let cases = ConformanceCase.all.filter(\.isIntegerProduct)
    #expect(cases.count > 10)
    for device in devices(imitating: OpenCLDeviceOverrides(kind: .discreteGPU, acceleratesDotProducts: true)) {
      for testCase in cases {
        let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
        #expect(outcome.fault(of: testCase, on: device.info) == nil)
      }
    }
  }

  /// The tiles of products depend on the floats of a processor's vectors.
  @Test(.slow, arguments: [8, 16]) func conformsOnProductsForAnyVectorWidth(_ width: Int) throws {
    let device = try #require(devices(imitating: OpenCLDeviceOverrides(vectorWidth: width)).first)
    let cases = ConformanceCase.all.filter { $0.isProductInTiles && !$0.name.hasSuffix(" float16") }
    #expect(cases.count > 50)
    for testCase in cases {
      let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
      #expect(outcome.fault(of: testCase, on: device.info) == nil)
    }
  }

  @Test(arguments: Tier.some(present.count, of: drivenNames))
  func loopsStayWithinTheIterationLimit(_ name: String) throws {
    #expect(try longLoopFaults(of: try #require(driven[name]), reference: ReferenceDevice()) == [])
  }

  /// On cards whose kernels see few elements of a tensor, so that many have to be computed in parts. On a CPU a block of
  /// channels alone has more.
  @Test(.slow, arguments: [DeviceInfo.Kind.discreteGPU, .integratedGPU])
  func conformsOnTensorsSplitIntoParts(kind: DeviceInfo.Kind) throws {
    for device in devices(imitating: OpenCLDeviceOverrides(kind: kind, elementLimit: 640)) {
      let device = try #require(device as? any KernelDevice)
      let faults = try partsFaults(of: device, reference: ReferenceDevice())
      #expect(faults == [])
    }
  }

  @Test(arguments: Tier.sample(100, of: ConformanceCase.all))
  func specialValuesMatchTheReference(_ testCase: ConformanceCase) throws {
    let names = Tier.some(present.count, of: drivenNames)
    let devices = names.compactMap { driven[$0] }
    let outcomes = try checkSpecialValues(of: devices, on: testCase, reference: ReferenceDevice())
    for (index, outcome) in outcomes.enumerated() {
      let fault = outcome.fault(of: testCase, on: devices[index].info, exempt: exemptions(names[index]))
      #expect(fault == nil, "\(names[index])")
    }
  }

  /// One such number would spoil a whole tile of Winograd's.
  @Test(.slow, arguments: [Float.infinity, -.infinity, .nan, 3e38])
  func winogradTilesKeepSpecialValuesLocal(number: Float) throws {
    let tiles = try SpoiledTiles([2, 174, 13, 10], filters: 178, number: number, reference: ReferenceDevice())
    for name in driven.keys.sorted() {
      let device = try #require(driven[name] as? any KernelDevice)
      #expect(try tiles.wrongCount(on: device) == 0, "\(name)")
    }
  }

  /// On devices driven as cards, float32 is stored as float16.
  @Test(.slow, arguments: driven.keys.filter { $0.contains(" as ") }.sorted())
  func conformsOnRoundedValues(_ name: String) throws {
    let (device, reference) = (try #require(driven[name]), ReferenceDevice())
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(
        of: device, on: testCase, reference: reference, precision: .low, storesHalves: true)
      let special = try checkSpecialValues(
        of: [device], on: testCase, reference: reference, precision: .low, storesHalves: true)
      let faults = ([outcome] + special).compactMap {
        $0.fault(of: testCase, on: device.info, exempt: exemptions(name, from: ConformanceExemption.storingHalves))
      }
      #expect(faults == [])
    }
  }

  @Test(arguments: Tier.some(present.count, of: drivenNames))
  func everySelfTestPasses(_ name: String) throws {
    let device = try #require(driven[name] as? any KernelDevice)
    let example = try SelfTest.example(of: SelfTest.all, on: device)
    let trust = KernelTrust(driver: "", identity: "every self-test")
    trust.examine(example.nodes.graph, on: device, against: ReferenceDevice(), blobs: NoBlobCache())
    #expect(trust.faults == [])
    let made = zip(example.nodes.graph.nodes, example.tests).filter { node, test in
      test.implementation.map(device.kernelFamily.implementations(of: node, in: example.nodes.graph).contains) ?? true
    }
    #expect(trust.examined.isSuperset(of: made.map(\.1.name)))
  }

  /// Functions of one element, which a CPU has a kernel each of, count as one, and so do the sizes of a convolution's tiles.
  /// Self-tests ask for no precision below full, in which finite numbers stay finite as float16 too.
  @Test(arguments: Tier.some(present.count, of: drivenNames))
  func everyKernelANodeUsesHasASelfTest(_ name: String) throws {
    let device = try #require(driven[name] as? OpenCLDevice)
    let reach = try SelfTestCoverage(device) { segment in
      Set(
        try device.functions(of: segment).map { function in
          function == "half float_to_finite_half"
            ? "half float_to_half" : String(function.prefix { !$0.isNumber })
        })
    }
    for testCase in ConformanceCase.all {
      for precision in [Precision.full, .low] {
        let untested = try reach.untested(testCase.graph, precision)
        #expect(untested == [], "\(testCase), \(precision)")
      }
    }
  }
}
