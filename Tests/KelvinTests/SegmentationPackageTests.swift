import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// A detection transformer with a ResNet-50 backbone, as an ML Program: the largest program of the shared models. It comes
/// without weights, so a copy with seeded ones is run.
@Suite(.serialized, .enabled(if: SharedFiles.root != nil, Comment(rawValue: SharedFiles.reason)))
struct SegmentationPackageTests {
  private static let source = "models/DETRResnet50SemanticSegmentationF16.mlpackage"

  @Test(.slow) func detectionTransformerRuns() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kelvin-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let package = try SeededPackage(copying: SharedFiles.path(Self.source), to: folder.path, seed: 11)
    let loaded = try ModelFixture.load(package.path, precision: .automatic)
    let explanation = try loaded.shown.explain()
    let graph = loaded.context.graph
    #expect(explanation.solution.placement.count == graph.nodes.count)
    var random = SeededGenerator(seed: 3)
    let inputs = graph.inputs.map { Tensor.random(graph[$0].type.scalar, graph[$0].type.shape, 0...255, &random) }
    let session = try loaded.shown.compile(explanation).makeSession()
    let labels = try #require(session.run(inputs).first)
    #expect(labels.type == TensorType(.int32, [448, 448]))
    #expect(labels.integers.allSatisfy { (0..<250).contains($0) })
  }
}
