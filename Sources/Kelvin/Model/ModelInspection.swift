import KelvinBasics
import KelvinEngine
package import KelvinFeatures
import KelvinGraph
import KelvinHostOperations
import KelvinImport
import KelvinPasses
import KelvinReference
import KelvinRuntime

/// The contents of a model file and the operations that Kelvin does not support, as `kelvin inspect` prints them.
package struct ModelInspection: Encodable {
  struct FeatureRow: Encodable {
    var name: String
    var type: String
    var isOptional: Bool
    var summary: String
  }

  struct FunctionRow: Encodable {
    var name: String
    var inputs: [FeatureRow]
    var outputs: [FeatureRow]
    /// The constants that predictions may override.
    var overridable: [FeatureRow]
    /// The number of class labels of a classifier.
    var labels: Int?
    /// The parts that run in order; nil for a single graph.
    var parts: [PartRow]?
    /// The number of occurrences of each kind of operation, by the file's own names.
    var operations: [String: Int]
    /// The number of nodes in the graph before any pass, for the default input sizes. Nil if the graph cannot be built.
    var nodes: Int?
    /// The bytes of weights as stored.
    var weightBytes: Int?
    var weights: WeightReport?
    var missing: [MissingRow]
    var problem: String?
  }

  /// A part of a function: a graph by its name, or a host operation. A loop has its name and the parts of its body; a
  /// branch has its name and the parts of its sides.
  struct PartRow: Encodable {
    var graph: String?
    var step: String?
    var loop: String?
    var body: [PartRow]?
    var branch: String?
    var sides: [[PartRow]]?
    var inputs: [String]
    var outputs: [String]

    init(_ part: FunctionPart) {
      switch part {
      case .graph(let part): graph = part.name
      case .host(let step): self.step = type(of: step).name
      case .loop(let loop): (self.loop, body) = (loop.name, loop.body.map(PartRow.init))
      case .branch(let branch):
        (self.branch, sides) = (branch.name, branch.sides.map { $0.parts.map(PartRow.init) })
      }
      (inputs, outputs) = (part.inputs, part.outputs)
    }

    var text: String {
      let inner = (body.map { [$0] } ?? sides ?? []).map { "[\($0.map(\.text).joined(separator: "; "))]" }
      let name = step ?? loop.map { "loop \($0)" } ?? branch.map { "branch \($0)" } ?? "graph \(graph ?? "")"
      let of = inner.isEmpty ? "" : " of \(inner.joined(separator: " or "))"
      return "\(name)\(of) (\(inputs.joined(separator: ", "))) → \(outputs.joined(separator: ", "))"
    }
  }

  struct MissingRow: Encodable {
    var name: String
    var count: Int
    var places: [String]
  }

  struct Metadata: Encodable {
    var author: String
    var license: String
    var description: String
    var version: String
    var userDefined: [String: String]
  }

  let model: String
  package let format: String
  let formatVersion: Int
  let defaultFunction: String
  let functions: [FunctionRow]
  let metadata: Metadata
  let files: [String]
  /// The error that prevents building the default function's graph.
  package let failure: ModelError?

  private enum CodingKeys: String, CodingKey {
    case model, format, formatVersion, defaultFunction, functions, metadata, files
  }

  /// - Parameter shapes: the shapes of inputs with open sizes, by name.
  package init(_ file: ReadModel, shapes: [String: [Int]]) {
    let program = file.program
    let shapes = shapes.mapValues { Shape($0) }
    model = program.source.path
    format = program.source.format.rawValue
    formatVersion = program.source.version
    defaultFunction = program.defaultFunction
    files = program.source.files
    metadata = Metadata(
      author: program.metadata.author, license: program.metadata.license, description: program.metadata.summary,
      version: program.metadata.version, userDefined: program.metadata.userDefined)
    do {
      let read = try program.source.opened.vouching { Self.rows(program, shapes) }
      functions = read.rows
      failure = read.failure.map { ModelError($0) }
    } catch {
      functions = []
      failure = ModelError(error)
    }
  }

  /// Returns a row for each function, and the error of the default function or else of the first that cannot be built.
  private static func rows(
    _ program: ModelProgram, _ shapes: [String: Shape]
  ) -> (rows: [FunctionRow], failure: (any Error)?) {
    var failure: (any Error)?
    let rows = program.functions.keys.sorted().compactMap { name -> FunctionRow? in
      guard let function = program.functions[name] else { return nil }
      var row = FunctionRow(
        name: name, inputs: function.inputs.map(Self.row), outputs: function.outputs.map(Self.row),
        overridable: function.overridable.map(Self.row),
        labels: function.classification?.labels.count,
        parts: max(function.parts.count, function.graphParts.count) > 1 ? function.parts.map(PartRow.init) : nil,
        operations: program.structure.kinds(of: name), missing: [])
      do {
        let own = shapes.filter { shape in function.inputs.contains { $0.name == shape.key } }
        let (even, built) = try function.settled { function in
          (function, try function.evenGraphs(shapes: own, evaluator: ReferenceEvaluator()))
        }
        if !even.hostControlFlow.isEmpty { row.parts = even.parts.map(PartRow.init) }
        let graphs = built.compactMap(\.graph)
        row.nodes = graphs.reduce(0) { $0 + $1.nodes.count }
        let weights = WeightReport(graphs)
        row.weightBytes = weights.storedBytes
        row.weights = weights
      } catch {
        row.missing =
          (error as? FormatError)?.missing.map { MissingRow(name: $0.name, count: $0.count, places: $0.places) } ?? []
        row.problem = "\(error)".split(whereSeparator: \.isNewline).joined(separator: "; ")
        if failure == nil || name == program.defaultFunction { failure = error }
      }
      return row
    }
    return (rows, failure)
  }

  private static func row(_ feature: Feature) -> FeatureRow {
    FeatureRow(name: feature.name, type: feature.type.text, isOptional: feature.isOptional, summary: feature.summary)
  }

  /// Formats the inspection for a terminal.
  ///
  /// - Parameter width: the terminal's width in columns.
  package func text(width: Int, isVerbose: Bool) -> String {
    InspectionText(inspection: self, width: width, isVerbose: isVerbose).text()
  }
}

extension ReadModel {
  /// Formats each function's graphs after the passes, one line per node.
  ///
  /// - Parameters:
  ///   - shapes: the shapes of inputs with open sizes, by name.
  ///   - lastPass: the last pass to run; nil for all of them.
  /// - Throws: `ModelError` for a graph that cannot be built.
  package func graphDump(shapes: [String: [Int]], lastPass: String?) throws(ModelError) -> String {
    try ModelError.wrapping {
      try program.source.opened.vouching { try dump(shapes.mapValues { Shape($0) }, lastPass) }
    }
  }

  private func dump(_ shapes: [String: Shape], _ lastPass: String?) throws -> String {
    let evaluator = ReferenceEvaluator()
    var pipeline = Pipeline.standard(evaluator)
    if let lastPass { pipeline = try pipeline.stopping(after: lastPass) }
    var text = ""
    for (name, function) in program.functions.sorted(by: { $0.key < $1.key }) {
      let own = shapes.filter { shape in function.inputs.contains { $0.name == shape.key } }
      if program.functions.count > 1 { text += "function \(name.printable)\n" }
      let built = try function.builtGraphs(shapes: own, evaluator: evaluator)
      for graph in built {
        if built.count > 1 { text += "graph \(graph.part.name.printable)\n" }
        let dump = try graph.graph.map { try pipeline.run($0).graph.description }
        text += (dump ?? "its sizes depend on data: it is built when the function runs\n")
        if !text.hasSuffix("\n") { text += "\n" }
      }
    }
    return text
  }
}
