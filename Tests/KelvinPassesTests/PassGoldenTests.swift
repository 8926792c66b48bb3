import ConformanceChecks
import FoundationEssentials
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

/// Every pass of the pipeline alone, on a graph that has what it looks for: the graph before and after is as kept in
/// `Tests/Golden/passes`, and computes the same.
@Suite struct PassGoldenTests {
  private static let pipeline = Pipeline.standard(ReferenceEvaluator())
  private static let folder = "Tests/Golden/passes"

  private func example(_ name: String) throws -> (before: PassExample, after: PassResult) {
    let pass = try #require(zip(Self.pipeline.names, Self.pipeline.passes).first { $0.0 == name }?.1)
    let make = try #require(PassExample.all[name], "no example for the pass '\(name)' in PassExample+Catalog.swift")
    let example = try make()
    return (example, try Pipeline(passes: [pass]).run(example.graph))
  }

  @Test func everyPassHasAnExampleAndAGoldenDump() throws {
    let names = Set(Self.pipeline.names)
    #expect(names.count == Self.pipeline.passes.count, "names are unique")
    #expect(Set(PassExample.all.keys) == names)
    let kept = try FileManager.default.contentsOfDirectory(atPath: "\(SharedFiles.projectRoot)/\(Self.folder)")
    #expect(Set(kept) == Set(names.map { "\($0).txt" }))
  }

  @Test(arguments: pipeline.names) func graphsMatchTheGoldenDump(name: String) throws {
    let (before, after) = try example(name)
    var parts = [("before", before.graph.description), ("after", after.graph.description)]
    let changes = after.changes.map { change in
      "\(change.origins.map(\.name).joined(separator: " + ")): \(change.reason)\(change.isRemoval ? " (gone)" : "")"
    }
    parts.append(("changes", changes.joined(separator: "\n")))
    let text = parts.map { title, lines in
      "\(title)\n" + lines.split(separator: "\n").map { "  \($0)\n" }.joined()
    }.joined(separator: "\n")
    Golden.expect(text, at: "\(Self.folder)/\(name).txt")
  }

  @Test(arguments: pipeline.names) func singlePassKeepsTheResults(name: String) throws {
    let (before, after) = try example(name)
    #expect(!after.changes.isEmpty, "the pass has found nothing")
    #expect(after.changes.allSatisfy { $0.pass.replacing(" ", with: "-") == name.replacing("-2", with: "") })
    let wanted = try before.graph.referenceOutputs(before.inputs)
    let got = try after.graph.referenceOutputs(before.inputs)
    #expect(wanted.count == got.count)
    for (wanted, got) in zip(wanted, got) {
      #expect(wanted.type == got.type)
      #expect(before.tolerance.difference(of: got, from: wanted) == nil)
      #expect(Set(wanted.doubles).count > 1, "a result of equal numbers shows nothing")
    }
  }

  @Test(arguments: pipeline.names) func stoppedPipelineCanBeContinued(name: String) throws {
    let first = try Self.pipeline.stopping(after: name)
    #expect(first.names.last == name)
    let rest = Pipeline(passes: Array(Self.pipeline.passes.dropFirst(first.passes.count)))
    for seed in 0..<UInt64(20) {
      let (graph, _) = try RandomGraph.make(seed: seed)
      let whole = try Self.pipeline.run(graph)
      let halfway = try first.run(graph)
      let later = try rest.run(halfway.graph)
      #expect(later.graph.description == whole.graph.description, "seed \(seed)")
      #expect(halfway.changes + later.changes == whole.changes, "seed \(seed)")
    }
  }

  @Test func unknownPassErrorListsThePasses() throws {
    #expect(try Self.pipeline.stopping(after: "none").passes.isEmpty)
    let error = #expect(throws: GraphError.self) { try Self.pipeline.stopping(after: "fold") }
    for name in Self.pipeline.names { #expect(error?.description.contains(name) == true) }
  }
}

extension Graph {
  /// The outputs as the reference gives them, control flow region by region.
  fileprivate func referenceOutputs(_ inputs: [Tensor]) throws -> [Tensor] {
    guard nodes.contains(where: \.isControl) else { return try ReferenceDevice().run(self, inputs).outputs }
    var interpreter = RegionInterpreter()
    return try interpreter.run(self, inputs)
  }
}
