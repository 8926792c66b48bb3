import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// MIL operations one by one, against vectors of independent implementations.
@Suite struct MILVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/MIL"
  static let cases = fileStems(in: folder, endingWith: ".mlmodel")

  @Test func testVectorsExist() { #expect(Self.cases.count > 100) }

  @Test(arguments: cases) func outputsMatchTheVector(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    try vector.check("\(Self.folder)/\(name).mlmodel", name)
  }

  /// `Refused` has operations with indices outside, which they validate.
  @Test(arguments: fileStems(in: "\(folder)/Refused", endingWith: ".kv"))
  func indicesOutsideAreErrors(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/Refused/\(name).kv")
    let error = #expect(throws: (any Error).self) {
      try vector.check("\(Self.folder)/Refused/\(name).mlmodel", name)
    }
    #expect("\(String(describing: error))".contains("outside an axis"), "\(name)")
  }
}

/// Small transformers as PyTorch's exporters and coremltools write them, against PyTorch's outputs, on every device.
@Suite struct NetworkVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Transformers"
  static let cases = fileStems(in: folder, endingWith: ".kv")

  @Test func testVectorsExist() {
    #expect(Self.cases.count > 12)
    for export in ["torchscript", "dynamo", "f32", "f16"] {
      #expect(Self.cases.contains("tiny_vit_\(export).1"))
      #expect(Self.cases.contains("tiny_encoder_\(export).1"))
    }
  }

  @Test(arguments: cases) func outputsMatchPyTorch(name: String) throws { try check(name, on: "cpu") }

  @Test(arguments: Tier.sample(4, of: cases), ModelFixture.fastDevices.filter { $0 != "cpu" })
  func otherDevicesMatchPyTorch(name: String, device: String) throws { try check(name, on: device) }

  private func check(_ name: String, on device: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    let stem = String(name.dropLast(2))
    let model = ["onnx", "mlmodel"].map { "\(Self.folder)/\(stem).\($0)" }
      .first { FileManager.default.fileExists(atPath: $0) }
    try vector.check(try #require(model), name, device: device)
  }
}
