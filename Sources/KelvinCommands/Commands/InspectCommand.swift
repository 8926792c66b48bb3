import ArgumentParser
import FoundationEssentials
import Kelvin

struct InspectCommand: ParsableCommand, LimitedCommand, IsolatedCommand, KeyedCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show a model file's inputs, outputs, labels and operations, and what Kelvin does not support.",
    usage: "kelvin inspect [<options>] <model>")

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Flag(help: "Print only each function's graph after the passes, one line per node.")
  var graph = false

  @OptionGroup var key: KeyOptions
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var passes: PassOption
  @OptionGroup var shapes: ShapeOption
  @OptionGroup var links: LinksOption
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if graph, output.json { throw ValidationError("--graph prints text; it cannot be used with --json") }
    if !graph, passes.stopAfterPass != nil { throw ValidationError("--stop-after-pass needs --graph") }
  }

  func run() throws {
    let file = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: links.allowLinks)
    let shapes = try shapes.dictionary()
    if graph { return Console.print(try file.graphDump(shapes: shapes, lastPass: passes.stopAfterPass)) }
    let inspection = ModelInspection(file, shapes: shapes)
    if output.json {
      try printJSON(inspection)
    } else {
      Console.print(inspection.text(width: Console.width, isVerbose: output.verbose))
    }
    if let failure = inspection.failure {
      Console.error(describe(failure))
      throw ReportedFailure(status: ExitStatus(failure).code)
    }
  }
}
