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
  func agreesWithTheReferenceInEveryCase(_ name: String) throws {
    let device = try #require(driven[name])
    var agreeing = 0
    for testCase in ConformanceCase.all {
      switch try checkConformance(of: device, on: testCase, reference: ReferenceDevice()) {
      case .agrees: agreeing += 1
      case .differs(let difference): Issue.record("\(difference)")
      case .unsupported(let reason):
        #expect(knownGaps.contains { reason.contains($0) }, "\(testCase.name): \(reason)")
      }
    }
    #expect(agreeing * 10 > ConformanceCase.all.count * 9)
  }
}

/// What the device answers where it does not run a case.
private let knownGaps = [
  "float64", "that are not constant", "spatial axes", "no kernel for top_k", "no kernel for scatter_elements",
  "no kernel for scatter_nd", "no kernel for non_maximum_suppression", "no kernel for convolution_integer",
  "no kernel for matmul_integer", "no kernel for binary_integer",
]
