import KelvinDevices
import KelvinGraph
import KelvinOpenCL
import KelvinReference
import Testing

/// The devices of this machine; the first of them runs every test below.
let listings = OpenCLDevice.discover()
let present = listings.compactMap(\.device)
let absence: Comment = "\(listings.first?.reason ?? "no OpenCL device")"

@Suite(.enabled(if: !present.isEmpty, absence))
struct OpenCLConformanceTests {
  @Test(arguments: ConformanceCase.all)
  func agreesWithTheReference(_ testCase: ConformanceCase) throws {
    for device in present {
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
private let knownGaps = ["arithmetic on ", "float64", "that are not constant", "spatial axes", "indices of type"]
