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

  @Flag(
    help:
      """
      Print the size instead: to download, on disk, in memory, of each tensor, and of the copies that 'compress' could \
      write.
      """)
  var ship = false

  @Option(help: ArgumentHelp("With --ship, write an HTML page with the tensors as a treemap.", valueName: "file.html"))
  var report: String?

  @Option(help: .hidden) var measuredShip: String?

  @OptionGroup var units: UnitsOption
  @OptionGroup var key: KeyOptions
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var passes: PassOption
  @OptionGroup var shapes: ShapeOption
  @OptionGroup var links: LinksOption
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if graph, output.json { throw ValidationError("--graph prints text; it cannot be used with --json") }
    if graph, ship { throw ValidationError("--graph and --ship print different things; give one of them") }
    if report != nil, !ship { throw ValidationError("--report needs --ship") }
    if !graph, passes.stopAfterPass != nil { throw ValidationError("--stop-after-pass needs --graph") }
  }

  func run() throws {
    let file = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: links.allowLinks)
    let shapes = try shapes.dictionary()
    if ship { return try printSize(of: file, shapes) }
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
