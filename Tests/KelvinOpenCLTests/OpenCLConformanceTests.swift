import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import KelvinReference
import Testing

/// The devices of this machine, and the first again, driven as graphics cards are.
let listings = OpenCLDevice.discover()
let present = listings.compactMap(\.device)
let driven: [String: any Device] = {
  var devices: [String: any Device] = [:]
  for device in present { devices[device.info.id] = device }
  for kind in [DeviceInfo.Kind.discreteGPU, .integratedGPU] {
    if let imitation = OpenCLDevice.discover(imitating: kind).compactMap(\.device).first {
      devices["\(imitation.info.id) as \(kind.rawValue)"] = imitation
    }
  }
  return devices
}()
let absence: Comment = "\(listings.first?.reason ?? "no OpenCL device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct OpenCLConformanceTests {
  @Test(arguments: driven.keys.sorted())
  func agreesWithTheReferenceInEveryCaseThatIsNotExempt(_ name: String) throws {
    let device = try #require(driven[name])
    for testCase in ConformanceCase.all {
      let outcome = try checkConformance(of: device, on: testCase, reference: ReferenceDevice())
      #expect(outcome.fault(of: testCase, on: device.info) == nil)
    }
  }

  @Test(arguments: ConformanceCase.all)
  func keepsSpecialValuesAsTheReferenceDoes(_ testCase: ConformanceCase) throws {
    let names = driven.keys.sorted()
    let devices = names.compactMap { driven[$0] }
    let outcomes = try checkSpecialValues(of: devices, on: testCase, reference: ReferenceDevice())
    for (index, outcome) in outcomes.enumerated() {
      #expect(outcome.fault(of: testCase, on: devices[index].info) == nil, "\(names[index])")
    }
  }

  /// One such number would spoil a whole tile of Winograd's.
  @Test(arguments: [Float.infinity, -.infinity, .nan, 3e38])
  func tilesSpoilNoNeighbours(number: Float) throws {
    let tiles = try SpoiledTiles([2, 174, 13, 10], filters: 178, number: number, reference: ReferenceDevice())
    for name in driven.keys.sorted() {
      let device = try #require(driven[name] as? any KernelDevice)
      #expect(try tiles.wrongCount(on: device) == 0, "\(name)")
    }
  }

  @Test(arguments: driven.keys.sorted())
  func passesEverySelfTest(_ name: String) throws {
    let device = try #require(driven[name] as? any KernelDevice)
    let example = try SelfTest.example(of: SelfTest.all, on: device)
    let trust = KernelTrust(driver: "", identity: "every self-test")
    trust.examine(example.nodes.graph, on: device, against: ReferenceDevice(), blobs: NoBlobCache())
    #expect(trust.faults == [])
    let made = zip(example.nodes.graph.nodes, example.tests).filter { node, test in
      test.way.map(device.kernelFamily.ways(of: node, in: example.nodes.graph).contains) ?? true
    }
    #expect(trust.examined.isSuperset(of: made.map(\.1.name)))
  }
}
