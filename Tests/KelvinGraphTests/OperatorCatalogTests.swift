import FoundationEssentials
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Every operator in the catalog has a definition, conformance cases, and a line in the documentation.
@Suite struct OperatorCatalogTests {
  private static let names = operatorCatalog.map { $0.name }
  private static let cases = Dictionary(
    grouping: ConformanceCase.all.flatMap { one in
      one.graph.nodes.map { (name: $0.op.name, node: $0, graph: one.graph) }
    }, by: \.name)

  @Test func catalogIsSortedAndUnique() {
    #expect(Self.names == Set(Self.names).sorted())
  }

  @Test(arguments: names) func operatorsHaveReferenceKernelsForTheirCases(name: String) throws {
    let cases = try #require(Self.cases[name], "no conformance case has a \(name)")
    let device = ReferenceDevice()
    for (_, node, graph) in cases {
      #expect(device.support(for: node, in: graph, precision: .full).isSupported, "\(graph)")
    }
  }

  @Test func conformanceCasesUseCatalogOperators() {
    #expect(Set(Self.cases.keys).subtracting(Self.names) == [])
  }

  @Test func documentationHasOneRowAndOneSectionPerOperator() throws {
    let page = try String(contentsOfFile: "\(SharedFiles.projectRoot)/docs/operators.md", encoding: .utf8)
    func names(_ beginning: String) -> [String] {
      page.split(separator: "\n").filter { $0.hasPrefix(beginning) }.map { String($0.split(separator: "`")[1]) }
    }
    #expect(names("| [`") == Self.names)
    #expect(names("## `") == Self.names)
    #expect(names("### `") == controlOperatorCatalog.map { $0.name })
  }

  @Test(arguments: operatorCatalog.map { $0 } + controlOperatorCatalog.map { $0 as any Operator.Type })
  func definitionsDescribeEveryOperandAndAttribute(type: any Operator.Type) {
    let summary = type.summary
    #expect(!summary.formula.isEmpty)
    for entry in summary.inputs + summary.outputs { #expect(!entry.name.isEmpty && !entry.meaning.isEmpty) }
    for (_, node, graph) in Self.cases[type.name] ?? [] {
      let isVariadic = summary.inputs.contains { $0.name.hasSuffix("…") }
      #expect(isVariadic || node.inputs.count <= summary.inputs.count, "\(graph)")
      #expect(node.outputs.count <= summary.outputs.count, "\(graph)")
    }
    func expectDescribedProperties<Op: Operator>(_ type: Op.Type) {
      for row in Op.schema.rows { #expect(!row.type.isEmpty && !row.meaning.isEmpty, "\(row)") }
    }
    expectDescribedProperties(type)
  }
}
