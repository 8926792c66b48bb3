import TestSupport
import Testing

/// Operators of ONNX Runtime's own domain against what it computes, or formulas where it lacks them on processors.
@Suite struct MicrosoftVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Microsoft"
  static let cases = fileStems(in: folder, endingWith: ".onnx")

  @Test func testVectorsExist() { #expect(Self.cases.count > 230) }

  @Test(arguments: cases) func outputsMatchTheVector(name: String) throws { try check(name, on: "cpu") }

  @Test(arguments: Tier.sample(30, of: cases), ModelFixture.fastDevices.filter { $0 != "cpu" })
  func otherDevicesMatchTheVector(name: String, device: String) throws { try check(name, on: device) }

  private func check(_ name: String, on device: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    try vector.check("\(Self.folder)/\(name).onnx", name, device: device)
  }
}
