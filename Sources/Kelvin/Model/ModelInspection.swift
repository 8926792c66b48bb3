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
  struct FunctionRow: Encodable, Sendable {
    var name: String
    var function: Function
    /// The parts that run in order; nil for a single graph.
    var parts: [PartRow]?
    /// The number of occurrences of each kind of operation, by the file's own names.
    var operations: [String: Int]
    /// The number of nodes in the graph before any pass, for the default input sizes. Nil if the graph cannot be built.
    var nodes: Int?
    var weights: WeightReport?
    var missing: [MissingOperation] = []
    var problem: String?
    /// The number of class labels of a classifier.
    var labels: Int? { function.classification?.labels.count }

    /// `overridable` are the constants that predictions may override, `weightBytes` the bytes of weights as stored.
    func encode(to encoder: any Encoder) throws {
      func documents(_ features: [Feature]) -> [JSONObject] {
        features.map { feature in
          [
            "name": feature.name, "type": feature.typeText, "isOptional": feature.isOptional,
            "summary": feature.summary,
          ]
        }
      }
      let document: JSONObject = [
        "name": name, "inputs": documents(function.inputs), "outputs": documents(function.outputs),
        "overridable": documents(function.overridable), "labels": labels, "parts": parts, "operations": operations,
        "nodes": nodes, "weightBytes": weights?.storedBytes, "weights": weights, "problem": problem,
        "missing": missing.map { ["name": $0.name, "count": $0.count, "places": $0.places] as JSONObject },
      ]
      try document.encode(to: encoder)
    }
  }

  /// A part of a function: a graph by its name, or a host operation. A loop has its name and the parts of its body; a
  /// branch has its name and the parts of its sides.
  struct PartRow: Encodable, Sendable {
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

  let model: String
  package let format: String
  let formatVersion: Int
  let defaultFunction: String
  let functions: [FunctionRow]
  let metadata: ModelMetadata
  let files: [String]
  /// The error that prevents building the default function's graph.
  package let failure: ModelError?

  package func encode(to encoder: any Encoder) throws {
    let document: JSONObject = [
      "model": model, "format": format, "formatVersion": formatVersion, "defaultFunction": defaultFunction,
      "functions": functions, "files": files,
      "metadata": [
        "author": metadata.author, "license": metadata.license, "description": metadata.summary,
        "version": metadata.version, "userDefined": metadata.userDefined,
      ] as JSONObject,
    ]
    try document.encode(to: encoder)
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
    metadata = program.metadata
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
        name: name, function: function,
        parts: max(function.parts.count, function.graphParts.count) > 1 ? function.parts.map(PartRow.init) : nil,
        operations: program.structure.kinds(of: name))
      do {
        let own = shapes.filter { shape in function.inputs.contains { $0.name == shape.key } }
        let (even, built) = try function.settled { function in
          (function, try function.evenGraphs(shapes: own, evaluator: ReferenceEvaluator()))
        }
        if !even.hostControlFlow.isEmpty { row.parts = even.parts.map(PartRow.init) }
        let graphs = built.compactMap(\.graph)
        row.nodes = graphs.reduce(0) { $0 + $1.nodes.count }
        row.weights = WeightReport(graphs)
      } catch {
        row.missing = (error as? FormatError)?.missing ?? []
        row.problem = "\(error)".split(whereSeparator: \.isNewline).joined(separator: "; ")
        if failure == nil || name == program.defaultFunction { failure = error }
      }
      return row
    }
    return (rows, failure)
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
