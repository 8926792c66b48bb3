import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinFormats
import KelvinGraph
import KelvinPasses
import KelvinReference
import KelvinRuntime
import KelvinSteps

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows what a model file holds: its inputs, outputs, labels, operations, and what Kelvin lacks for it.",
    usage: "kelvin inspect [<options>] <model>")

  @Argument(help: "An .mlpackage folder, or an .mlmodel or .onnx file.")
  var model: String

  @Flag(help: "Print each function's graph after the passes, one line a node, and nothing else.")
  var graph = false

  @OptionGroup var passes: PassOption
  @OptionGroup var shapes: ShapeOption
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if graph, output.json { throw ValidationError("--graph prints text; it cannot be used with --json") }
    if !graph, passes.stopAfterPass != nil { throw ValidationError("--stop-after-pass needs --graph") }
  }

  func run() throws {
    let program = try readModel(at: model)
    if graph { return try printGraphs(program) }
    let inspection = Inspection(program, shapes: try shapes.dictionary())
    if output.json { try printJSON(inspection) } else { Console.print(inspection.text(isVerbose: output.verbose)) }
    if let failure = inspection.failure {
      Console.error(describe(failure))
      throw SilentFailure(status: ExitStatus(failure).code)
    }
  }

  private func printGraphs(_ program: ModelProgram) throws {
    let evaluator = ReferenceEvaluator()
    var pipeline = Pipeline.standard(evaluator)
    if let last = passes.stopAfterPass { pipeline = try pipeline.stopping(after: last) }
    let shapes = try shapes.dictionary()
    for (name, function) in program.functions.sorted(by: { $0.key < $1.key }) {
      let own = shapes.filter { shape in function.inputs.contains { $0.name == shape.key } }
      if program.functions.count > 1 { Console.print("function \(name)") }
      let built = try function.builtGraphs(shapes: own, evaluator: evaluator)
      for graph in built {
        if built.count > 1 { Console.print("graph \(graph.part.name)") }
        let text = try graph.graph.map { try pipeline.run($0).graph.description }
        Console.print(text ?? "its sizes depend on data: it is built when the function runs\n")
      }
    }
  }
}

/// A model file's contents.
struct Inspection: Encodable {
  private struct FeatureRow: Encodable {
    var name: String
    var type: String
    var isOptional: Bool
    var summary: String
  }

  private struct FunctionRow: Encodable {
    var name: String
    var inputs: [FeatureRow]
    var outputs: [FeatureRow]
    /// How many class labels there are, for a classifier.
    var labels: Int?
    /// What runs in turn, where that is more than one graph.
    var parts: [PartRow]?
    /// How often each kind of operation occurs, by the file's own names.
    var operations: [String: Int]
    /// After folding nothing: the graph as it was read, for its usual input sizes. Nil where it cannot be built.
    var nodes: Int?
    /// As stored.
    var weightBytes: Int?
    var weights: WeightReport?
    var missing: [MissingRow]
    var problem: String?
  }

  /// A graph by its name, or a host step.
  private struct PartRow: Encodable {
    var graph: String?
    var step: String?
    var inputs: [String]
    var outputs: [String]

    init(_ part: FunctionPart) {
      switch part {
      case .graph(let part): graph = part.name
      case .host(let step): self.step = type(of: step).name
      }
      (inputs, outputs) = (part.inputs, part.outputs)
    }

    var text: String {
      "\(step ?? "graph \(graph ?? "")") (\(inputs.joined(separator: ", "))) → \(outputs.joined(separator: ", "))"
    }
  }

  private struct MissingRow: Encodable {
    var name: String
    var count: Int
    var places: [String]
  }

  private struct Metadata: Encodable {
    var author: String
    var license: String
    var description: String
    var version: String
    var userDefined: [String: String]
  }

  private var model: String
  private var format: String
  private var formatVersion: Int
  private var defaultFunction: String
  private var functions: [FunctionRow]
  private var metadata: Metadata
  private var files: [String]
  /// What the default function's graph cannot be built for.
  let failure: (any Error)?

  private enum CodingKeys: String, CodingKey {
    case model, format, formatVersion, defaultFunction, functions, metadata, files
  }

  init(_ program: ModelProgram, shapes: [String: Shape]) {
    model = program.source.path
    format = program.source.format.rawValue
    formatVersion = program.source.version
    defaultFunction = program.defaultFunction
    files = program.source.files
    metadata = Metadata(
      author: program.metadata.author, license: program.metadata.license, description: program.metadata.summary,
      version: program.metadata.version, userDefined: program.metadata.userDefined)
    var failure: (any Error)?
    functions = program.functions.keys.sorted().compactMap { name in
      guard let function = program.functions[name] else { return nil }
      var row = FunctionRow(
        name: name, inputs: function.inputs.map(Self.row), outputs: function.outputs.map(Self.row),
        labels: function.classification?.labels.count,
        parts: function.parts.count > 1 ? function.parts.map(PartRow.init) : nil,
        operations: program.structure.kinds(of: name), missing: [])
      do {
        let own = shapes.filter { shape in function.inputs.contains { $0.name == shape.key } }
        let built = try function.builtGraphs(shapes: own, evaluator: ReferenceEvaluator())
        let graphs = built.compactMap(\.graph)
        row.nodes = graphs.reduce(0) { $0 + $1.nodes.count }
        let weights = WeightReport(graphs)
        row.weightBytes = weights.storedBytes
        row.weights = weights
      } catch {
        row.missing =
          (error as? FormatError)?.missing.map { MissingRow(name: $0.name, count: $0.count, places: $0.places) } ?? []
        row.problem = describe(error)
        if failure == nil || name == program.defaultFunction { failure = error }
      }
      return row
    }
    self.failure = failure
  }

  private static func row(_ feature: Feature) -> FeatureRow {
    FeatureRow(name: feature.name, type: feature.type.text, isOptional: feature.isOptional, summary: feature.summary)
  }

  func text(isVerbose: Bool) -> String {
    var lines = ["\(model): \(format), version \(formatVersion)"]
    let entries =
      [
        ("description", metadata.description), ("author", metadata.author), ("license", metadata.license),
        ("version", metadata.version),
      ] + metadata.userDefined.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    for (name, value) in entries where !value.isEmpty {
      let line = value.split(whereSeparator: \.isNewline).joined(separator: " ")
      lines.append(
        "  \(name): \(isVerbose ? line : line.truncatedInMiddle(to: max(20, Console.width - name.count - 4)))")
    }
    for function in functions {
      if functions.count > 1 {
        lines += ["", "function \(function.name)" + (function.name == defaultFunction ? " (the default)" : "")]
      }
      lines += ["", features("INPUT", function.inputs), "", features("OUTPUT", function.outputs), ""]
      if let labels = function.labels { lines.append("class labels  \(labels)") }
      if let parts = function.parts {
        lines.append("parts         \(parts.map(\.text).joined(separator: "; "))".paragraph(hangingIndent: 14))
      }
      if let nodes = function.nodes, let weights = function.weights {
        lines.append("weights       \(weights.text)".paragraph(hangingIndent: 14))
        lines.append("graph         \(counted(nodes, "node"))")
      }
      let counts = function.operations.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      let total = counts.reduce(0) { $0 + $1.value }
      lines.append(
        "operations    \(total): " + counts.map { "\($0.key) \($0.value)" }.joined(separator: ", "))
      lines[lines.count - 1] = lines[lines.count - 1].paragraph(hangingIndent: 14)
      if !function.missing.isEmpty {
        var table = TextTable(
          .init("LACKING", shrinksTo: 16), .init("COUNT", .right), .init("FIRST PLACES", shrinksTo: 20, cut: .beginning)
        )
        for item in function.missing { table.add(item.name, "\(item.count)", item.places.joined(separator: ", ")) }
        lines += ["", table.text()]
      }
    }
    return lines.joined(separator: "\n")
  }

  private func features(_ title: String, _ rows: [FeatureRow]) -> String {
    var table = TextTable(
      .init(title, shrinksTo: 16), .init("TYPE", shrinksTo: 20), .init("DESCRIPTION", shrinksTo: 12))
    for row in rows { table.add(row.name, row.type + (row.isOptional ? " (optional)" : ""), row.summary) }
    return table.text()
  }
}
