import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

struct UseCommand: ParsableCommand, LimitedCommand, IsolatedCommand {
  static let configuration = CommandConfiguration(
    commandName: "use",
    abstract: "Set the default model that classifies images, or show it.",
    usage: "kelvin use [<options>] [<model>]",
    discussion: """
      The choice is stored in $XDG_CONFIG_HOME/kelvin/default-model.json, or below ~/.config. 'classify', 'index' \
      and ClassifyImageRequest use it.
      """)

  @Argument(
    help: "An .mlpackage or .mlmodelc folder, or an .mlmodel or .onnx file, that classifies images.",
    transform: ModelArgument.path)
  var model: String?

  @Option(
    help: ArgumentHelp("A file of class labels, one per line, instead of the model's own.", valueName: "file"))
  var labels: String?

  @Flag(help: "Remove the choice.")
  var none = false

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var links: LinksOption
  @OptionGroup var isolation: IsolationOption
  @OptionGroup var limits: LimitOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if none, model != nil { throw ValidationError("--none and a model contradict each other") }
    if model == nil, labels != nil || pixels.normalization != nil {
      throw ValidationError("--labels and --normalization need a model")
    }
  }

  func run() throws {
    if none { try recognizing { () throws(VisionError) in try DefaultModel.forget() } }
    if let model { try choose(model) }
    let choice = try recognizing { () throws(VisionError) in try DefaultModel.configured() }
    if output.json {
      return try printJSON(
        [
          "model": choice?.url.path, "normalization": choice?.normalization?.rawValue,
          "labels": choice?.labels?.count,
        ] as JSONObject)
    }
    guard let choice else { return Console.print("no default model; set one: kelvin use MODEL") }
    let rule = choice.normalization.map { ", --normalization \($0.rawValue)" } ?? ""
    let names = choice.labels.map { ", \($0.count) labels of its own" } ?? ""
    Console.print("default model: \(choice.url.path)\(rule)\(names)")
  }

  /// Checks that a model classifies images, and stores it as the default model.
  private func choose(_ path: String) throws {
    var configuration = ModelConfiguration()
    configuration.allowsLinks = links.allowLinks
    let names = try labels.map(LabelFile.read)
    let model = try Model.loadWithProgress(path, configuration)
    let request = try recognizing { () throws(VisionError) in
      try ClassificationRequest(model: model, labels: names, normalization: pixels.normalization)
    }
    request.remarks.forEach(Console.note)
    try recognizing { () throws(VisionError) in
      try DefaultModel(url: model.url, labels: names, normalization: pixels.normalization).configure()
    }
  }
}
