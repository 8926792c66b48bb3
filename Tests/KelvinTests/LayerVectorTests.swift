import FoundationEssentials
import TestSupport
import Testing

/// Layers of Core ML's NeuralNetwork, and its models that are not networks, each in a file of its own, against NumPy's and
/// PyTorch's formulas.
@Suite struct LayerVectorTests {
  private static let folder = "\(SharedFiles.projectRoot)/Tests/Vectors/Layers"
  static let cases = fileStems(in: folder, endingWith: ".mlmodel")

  @Test func testVectorsExist() { #expect(Self.cases.count > 180) }

  @Test(arguments: cases) func layerMatchesItsFormula(name: String) throws {
    let vector = try Vector(path: "\(Self.folder)/\(name).kv")
    try vector.check("\(Self.folder)/\(name).mlmodel", name, comparesElementTypes: false)
  }
}
