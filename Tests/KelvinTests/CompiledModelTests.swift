import FoundationEssentials
import Kelvin
import KelvinGraph
import TestSupport
import Testing

/// Compiled models as programs load them.
@Suite struct CompiledModelTests {
  /// Each prediction gives twice what the loop leaves: the input and three times what the state held before.
  @Test(arguments: ["reference", "cpu"])
  func aCompiledModelWithLoopBranchAndStatePredicts(device: String) throws {
    var configuration = ModelConfiguration()
    configuration.computeUnits = .devices([device])
    configuration.cacheDirectory = nil
    let path = "\(SharedFiles.projectRoot)/Tests/Vectors/Compiled/accumulate.mlmodelc"
    let model = try Model(contentsOf: URL(filePath: path), configuration: configuration)
    let state = model.makeState()
    let input = FeatureValue(multiArray: MultiArray(Tensor([1, 2] as [Float], [2])))
    var found: [[Double]] = []
    for _ in 0..<3 {
      let output = try model.prediction(from: DictionaryFeatureProvider(dictionary: ["x": input]), using: state)
      found.append(try #require(output["either"]?.multiArrayValue).tensor.doubles)
    }
    #expect(found == [[2, 4], [8, 16], [26, 52]])
  }
}
