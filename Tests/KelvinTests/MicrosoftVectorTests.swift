import TestSupport
import Testing

/// Operators of ONNX Runtime's own domain against what it computes, or formulas where it lacks them on processors.
@Suite(.serialized) struct MicrosoftVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Microsoft"
  static let cases = fileStems(in: folder, endingWith: ".onnx")

  @Test func testVectorsExist() { #expect(Self.cases.count > 230) }

  @Test(arguments: cases, ModelFixture.fastDevices) func outputsMatchTheVector(name: String, device: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    try vector.check("\(Self.folder)/\(name).onnx", name, device: device)
  }
}
