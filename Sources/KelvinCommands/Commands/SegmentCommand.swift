import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct SegmentCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "segment",
    abstract: "Segment images into classes.",
    discussion: """
      \(ImageOptions.taken)

      With --output-dir, files are written for each image: labels (NAME.labels.png, an indexed PNG of class numbers \
      in the image's size; 255 marks pixels that the model did not see, and with --only those of other classes), \
      overlay (NAME.overlay.png, the image under the classes' colours with a legend below it), masks \
      (NAME.7-LABEL.mask.png for each class, 255 in the class), polygons (NAME.geojson, outlines in pixels from the \
      top left), and COCO run lengths as strings (rle, NAME.rle.json) or as numbers (counts, NAME.counts.json).

      Names and colours come from the model, or from --labels and --colors. A model without colours gets a palette \
      whose colours stay distinct for every kind of colour vision. A model whose input is a plain tensor needs \
      --normalization, which defines how pixels become numbers.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: .images)
  var images: [String]

  @Option(
    help: ArgumentHelp(
      "The folder for files; created if it does not exist. (default: no files)", valueName: "dir"))
  var outputDir: String?

  @Option(
    help: ArgumentHelp(
      "The files to write, separated by commas: \(SegmentFileKind.names). (default: labels,overlay)", valueName: "files"
    ),
    transform: SegmentFileKind.list)
  var write: [SegmentFileKind]?

  @Option(
    help: ArgumentHelp("Include only classes with this label. Repeatable.", valueName: "label"))
  var only: [String] = []

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "The maximum distance in pixels of a simplified outline from the edges of its class.", valueName: "pixels"),
    transform: decimalNumber)
  var simplify: Double?

  @Option(help: ArgumentHelp("The compression level of PNG files, 0 to 9.", valueName: "level"))
  var pngLevel = 3

  @Option(help: ArgumentHelp("The output format: table, jsonl or csv.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var spreadsheet: SpreadsheetOption

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp("The output with the classes. (default: the only suitable one)", valueName: "name"))
  var outputName: String?

  @Option(
    help: ArgumentHelp(
      "A file of class labels, one per line from class 0 on, instead of the model's own.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp(
      "A file of colours as #RRGGBB, one per line from class 0 on, instead of the model's own.", valueName: "file"))
  var colors: String?

  @OptionGroup var page: SheetOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one image") }
    try output.validate(beside: format)
    try spreadsheet.validate(writesCSV: format == .csv, "--format csv")
    guard (0...9).contains(pngLevel) else { throw ValidationError("--png-level must be from 0 to 9, got \(pngLevel)") }
    if write != nil, outputDir == nil { throw ValidationError("--write needs --output-dir") }
    guard let simplify else { return }
    guard write?.contains(.polygons) == true else { throw ValidationError("--simplify is for --write polygons") }
    guard simplify >= 0, simplify.isFinite else {
      throw ValidationError("--simplify must be a number of pixels of at least 0, got \(simplify)")
    }
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let classNames = try labels.map(LabelFile.read)
    let classColors = try colors.map(ColorFile.read)
    let files = ImageFileList.named(images)
    let run = ImageRun<ImageSegments>(files, orientation: imageOptions.orientation)
    let model = try Model.loadWithProgress(self.model, configuration)
    let request = try request(model, classNames, classColors)
    let writer = try outputDir.map { folder in
      try LocalFile.makeFolder(folder)
      return SegmentFiles(
        folder, write ?? [.labels, .overlay], of: files.map(\.path), tolerance: simplify ?? 0, level: pngLevel)
    }

    let sheet = SheetWriter(page.sheet, title: "Classes in the images")
    try run.show("segmenting", by: model, format, isDocument: output.json, isSafe: spreadsheet.csvSafe, sheet: sheet) {
      index, image in
      let seen = try recognizing { () throws(VisionError) in
        try request.segment(image.pixels, orientation: image.orientation)
      }
      var result = ImageSegments(files[index].path, seen)
      try writer?.write(seen, of: image, index, into: &result)
      if let sheet, sheet.wants(index) {
        let overlay = try recognizing { () throws(VisionError) in
          try seen.overlay(on: image.pixels, orientation: image.orientation)
        }
        try sheet.add(index, result.image, overlay, result.labels)
      }
      return result
    }
  }

  private func request(_ model: Model, _ labels: [String]?, _ colors: [String]?) throws -> SegmentationRequest {
    if model.modelDescription.isClassifier {
      throw InputError("the model classifies whole images; use 'kelvin classify'")
    }
    var request = try recognizing { () throws(VisionError) in
      try SegmentationRequest(
        model: model, output: outputName, labels: labels, normalization: pixels.normalization, colors: colors)
    }
    request.cropAndScaleAction = imageOptions.cropAndScale ?? request.cropAndScaleAction
    request.remarks.forEach(Console.note)
    if !only.isEmpty {
      do throws(VisionError) { try request.restrict(to: only) } catch { throw InputError("--only: \(error)") }
    }
    return request
  }
}
