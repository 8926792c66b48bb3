import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinTables

struct PredictCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "predict",
    abstract: "Run a model on inputs from files or on every row of a table, and write its outputs.",
    discussion: """
      Tensors are written as NAME.npy, images as NAME.png (float16 images as NAME.npy), dictionaries and sequences \
      as NAME.json; numbers and strings are printed. In file names, characters outside A-Z a-z 0-9 . _ - become _, \
      and long names are shortened. Optional inputs may be omitted; with --seed, all others may be omitted too and are made up. The page of \
      --report holds the same results, and the largest entries of a dictionary.

      With --csv, every row of a table of any size is predicted: 'kelvin predict prices.mlmodel --csv in.csv \
      --output out.csv'. Each input is read from the column of its name, and an array from columns name[0], name[1] \
      … or from lists such as [1.5, 2] in one column. For an empty cell the model's rule for missing numbers \
      applies. Outputs are columns in the same form, with one probability per label. An invalid row ends the command \
      and keeps the earlier output file. With --keep-going, the row is reported on a line of its own, its \
      predictions are empty, and the exit status is 65.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Option(
    name: .customLong("input"),
    help: ArgumentHelp(
      """
      An input's value: a .npy file, an image file, a number, true or false, a string, or JSON (inline or a .json \
      file) for a dictionary or a sequence. Repeatable.
      """, valueName: "name=value"),
    transform: NamedInput.init)
  var inputs: [NamedInput] = []

  @Option(help: ArgumentHelp("The folder for outputs; created if it does not exist.", valueName: "dir"))
  var outputDir: String?

  @OptionGroup var table: TableOptions
  @OptionGroup var page: ReportOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var passes: PassOption
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard table.csv != nil || outputDir != nil else {
      throw ValidationError("give --output-dir for the outputs, or --csv with a table")
    }
    guard table.csv != nil else { return }
    guard inputs.isEmpty, outputDir == nil, options.seed == nil, pixels.normalization == nil else {
      throw ValidationError(
        "--csv takes inputs from the table; it cannot be used with --input, --seed, --normalization or --output-dir")
    }
    guard page.report == nil || table.isOutputFile else {
      throw ValidationError("--report shows rows of the table of predictions; name a file for it with --output")
    }
  }

  func run() throws {
    var configuration = try options.configuration(units: units.units)
    configuration.lastPass = passes.stopAfterPass
    if let csv = table.csv { return try table.run(csv, model, configuration, page, output) }
    if let outputDir { try predictOnce(configuration, into: outputDir) }
  }

  private func predictOnce(_ given: ModelConfiguration, into outputDir: String) throws {
    var configuration = given
    let file = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    let reader = try imageOptions.reader(of: file, functionName: options.function, pixels.normalization)
    var values = try reader.read(try inputs.pairs(reader), mayLackSome: options.seed != nil)
    let shapes = try file.shapes(of: values, functionName: options.function)
    configuration.inputShapes.merge(shapes) { said, _ in said }

    let model = try Model.loadWithProgress(file, configuration)
    if let seed = options.seed {
      let completed = try model.completed(values, seed: seed)
      completed.madeUp.forEach(Console.note)
      values = completed.values
    }
    let result = try model.timedPrediction(from: values)
    model.remarks.forEach(Console.note)

    try LocalFile.makeFolder(outputDir)
    let written = try FeatureWriter(folder: outputDir).write(result.features, order: model.modelDescription.outputNames)
    for (name, output) in written where output.file != nil && LocalFile.isLong(name) {
      Console.note(
        "the name of output '\(name.prefix(40))…' is too long for a file: its file is '\(output.file ?? "")'")
    }
    if output.json {
      try printJSON(
        [
          "outputs": Dictionary(uniqueKeysWithValues: written), "seconds": result.seconds, "model": self.model,
          "units": units.units.description,
          // Device failures during the prediction.
          "outages": model.outages.nonEmpty,
        ] as JSONObject)
    } else {
      Console.print(Self.table(written).text() + "\n\n" + Self.duration(result.seconds))
    }
    try page.write(page(of: written, result.features, result.seconds))
  }

  private static func table(_ written: [(name: String, output: WrittenFeature)]) -> TextTable {
    var table = TextTable(
      .init("OUTPUT", shrinksTo: 16), .init("TYPE"), .init("VALUE OR FILE", shrinksTo: 24, cut: .beginning))
    for (name, output) in written { table.add(name, output.typeText, output.valueText) }
    return table
  }

  private static func duration(_ seconds: Double) -> String { "one prediction took \(HumanReadable.seconds(seconds))" }

  /// The largest number of entries of a dictionary on a page. The output file contains all entries.
  private static let mostEntries = 20

  private func page(
    of written: [(name: String, output: WrittenFeature)], _ features: DictionaryFeatureProvider, _ seconds: Double
  ) -> ResultPage {
    let dictionaries = written.compactMap { name, _ -> ResultPage.Table? in
      guard let entries = features[name]?.dictionaryValue, !entries.isEmpty else { return nil }
      let largest = entries.map { (label: $0.key.description, number: $0.value) }
        .sorted { ($1.number, $0.label) < ($0.number, $1.label) }.prefix(Self.mostEntries)
      let title = largest.count < entries.count ? "\(name): the largest \(largest.count) of \(entries.count)" : name
      return .init(
        title: title, columns: ["Label", "Value"],
        rows: largest.map { [$0.label, HumanReadable.significant($0.number)] })
    }
    return ResultPage(
      title: model.lastPathPart, summary: Self.duration(seconds), tables: [.init(Self.table(written))] + dictionaries)
  }
}

/// An argument `NAME=VALUE` of `--input`. The model's input names decide where a name with a `=` ends.
struct NamedInput {
  let text: String

  /// - Throws: `ValidationError` where no `=` separates a name and a value.
  init(_ text: String) throws {
    guard text.utf8.dropFirst().dropLast().contains(UInt8(ascii: "=")) else {
      throw ValidationError(
        "--input takes NAME=FILE.npy, NAME=IMAGE, NAME=NUMBER, NAME=TEXT or NAME=JSON, got '\(text)'")
    }
    self.text = text
  }
}

extension [NamedInput] {
  /// Returns the names and values.
  ///
  /// - Throws: `UsageError` for an input named twice.
  func pairs(_ reader: FeatureReader) throws -> [(name: String, text: String)] {
    let pairs = map { reader.split($0.text) }
    var names: Set<ExactString> = []
    for pair in pairs where !names.insert(ExactString(pair.name)).inserted {
      throw UsageError("--input names '\(pair.name)' twice")
    }
    return pairs
  }
}
