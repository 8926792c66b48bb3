import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct ClassifyCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "classify", abstract: "Classify images.",
    discussion: """
      The first argument is the model; without a model, classify uses the one that 'kelvin use' has set. Images are \
      files, folders with all images below them, patterns such as 'holiday/*.jpg', or - for one image from standard \
      input. An image that cannot be read is reported on a line of its own and does not stop the command; the exit \
      status is then 65.

      Images are rotated upright by their EXIF orientation, then fitted to the model's input size. A model whose \
      input is a plain tensor needs --normalization, which defines how pixels become numbers. --labels names its \
      classes.
      """)

  @Argument(
    help: ArgumentHelp(
      "A model, then images: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF.",
      valueName: "model-and-images"), transform: ModelArgument.path)
  var names: [String]

  @Option(
    help: ArgumentHelp(
      "The number of labels to show for each image. (default: 5, or with --min-… all that qualify)", valueName: "n"))
  var top: Int?

  @Option(help: ArgumentHelp("The output format: table, jsonl or csv.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var spreadsheet: SpreadsheetOption

  @Option(
    help: ArgumentHelp("A file of class labels, one per line, instead of the model's own.", valueName: "file"))
  var labels: String?

  @OptionGroup var confidence: ConfidenceOptions
  @OptionGroup var curves: CurvesOption
  @OptionGroup var page: SheetOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  private var namesModel: Bool { names.first.map(ImageFileList.isModel) ?? false }

  func validate() throws {
    guard names.count > (namesModel ? 1 : 0) else { throw ValidationError("name at least one image") }
    if let top, top < 1 { throw ValidationError("--top must be at least 1, got \(top)") }
    try output.validate(beside: format)
    try spreadsheet.validate(writesCSV: format == .csv, "--format csv")
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    var usual = DefaultModel(url: URL(filePath: names[0]))
    if !namesModel {
      guard let configured = try recognizing({ () throws(VisionError) in try DefaultModel.configured() }) else {
        throw InputError(
          """
          '\(names[0])' is not a model, and there is no default model; name a model first, or set one: kelvin use \
          MODEL
          """
        )
      }
      usual = configured
    }
    let classNames = try labels.map(LabelFile.read) ?? usual.labels
    let measured = try curves.read()
    let files = ImageFileList.named(namesModel ? Array(names.dropFirst()) : names)
    let run = ImageRun<ImageClasses>(files, orientation: imageOptions.orientation)
    let model = try Model.loadWithProgress(
      try ReadModel(contentsOf: usual.url, allowsLinks: configuration.allowsLinks), configuration)
    var request = try recognizing { () throws(VisionError) in
      try ClassificationRequest(
        model: model, labels: classNames, normalization: pixels.normalization ?? usual.normalization,
        curves: measured)
    }
    request.cropAndScaleAction = imageOptions.cropAndScale ?? request.cropAndScaleAction
    request.remarks.forEach(Console.note)
    if confidence.filter.needsCurves, !request.hasPrecisionRecallCurves {
      throw InputError(
        "the model has no precision and recall curves; give an evaluation's with --curves, or choose labels by"
          + " confidence (--min-confidence)")
    }
    if confidence.filter.needsCurves { request.curveRemark.map(Console.note) }

    let filter = confidence.isGiven ? confidence.filter : nil
    let most = top ?? (filter == nil ? Self.usualCount : .max)
    let sheet = SheetWriter(page.sheet, title: "Labels of the images")
    try run.show("classifying", by: model, format, isDocument: output.json, isSafe: spreadsheet.csvSafe, sheet: sheet) {
      [request] index, image in
      let seen = try recognizing { () throws(VisionError) in
        try request.classify(image.pixels, orientation: image.orientation)
      }
      let kept = filter.map { seen.filter($0.keeps) } ?? seen
      let result = ImageClasses(image: files[index].path, Array(kept.prefix(most)))
      try sheet?.add(index, result.image, image.pixels, orientation: image.orientation, result.labels)
      return result
    }
  }

  private static let usualCount = 5
}

/// Reads files of class labels.
package enum LabelFile {
  /// Returns the labels, one per line; empty lines at the end are ignored.
  package static func labels(in text: String) -> [String] {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  static func read(_ path: String) throws -> [String] {
    let labels = labels(in: String(decoding: try LocalFile.read(path), as: UTF8.self))
    guard !labels.isEmpty else { throw InputError("'\(path)' holds no labels; expected one per line") }
    return labels
  }
}
