import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct DetectCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect", abstract: "Detect objects in images.",
    discussion: """
      Models with decoded outputs need no description: pipelines that end in non-maximum suppression, detectors of \
      torchvision and TensorFlow, DETR, and models of Ultralytics' exporter. For other models, such as those with \
      raw YOLO heads, a JSON file (--head) describes how outputs become boxes: docs/detection-heads.md.

      \(ImageOptions.taken) Coordinates are pixels of the upright image from its top left corner, whatever part of \
      it the model saw. With --output-dir, each image is written with its objects as NAME.objects.png.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: .images)
  var images: [String]

  @Option(help: ArgumentHelp("A JSON file that describes how the model's outputs become boxes.", valueName: "file"))
  var head: String?

  @Option(
    help: ArgumentHelp(
      "The minimum confidence of an object, 0 to 1. (default: set by the model or its head)",
      valueName: "share"), transform: ConfidenceOptions.share)
  var minConfidence: Float?

  @Option(
    help: ArgumentHelp(
      """
      The maximum overlap of two boxes as intersection over union, 0 to 1; the less confident of two boxes that \
      overlap more is dropped. (default: set by the model or its head)
      """, valueName: "share"), transform: ConfidenceOptions.share)
  var iou: Float?

  @Option(
    help: ArgumentHelp(
      "The maximum number of objects in an image, most confident first. (default: all)", valueName: "n"))
  var max: Int?

  @Option(help: ArgumentHelp("Show only objects of this class. Repeatable.", valueName: "label"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "A file of class labels, one per line from class 0 on, instead of those of the model and the head.",
      valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp("The folder for images with their objects; created if it does not exist.", valueName: "dir"))
  var outputDir: String?

  @Option(help: ArgumentHelp("The output format: table, jsonl or csv.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var spreadsheet: SpreadsheetOption

  @OptionGroup var page: SheetOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one image") }
    if let max, max < 1 { throw ValidationError("--max must be at least 1, got \(max)") }
    try output.validate(beside: format)
    try spreadsheet.validate(writesCSV: format == .csv, "--format csv")
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let classNames = try labels.map(LabelFile.read)
    let head = try self.head.map { path in
      try recognizing { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    let files = ImageFileList.named(images)
    let run = ImageRun<ImageObjects>(files, orientation: imageOptions.orientation)
    let model = try Model.loadWithProgress(self.model, configuration)
    if model.modelDescription.isClassifier {
      throw InputError("the model classifies whole images; use 'kelvin classify'")
    }
    var request = try recognizing { () throws(VisionError) in
      try DetectionRequest(model: model, head: head, labels: classNames, normalization: pixels.normalization)
    }
    request.cropAndScaleAction = imageOptions.cropAndScale ?? request.cropAndScaleAction
    (request.minimumConfidence, request.maximumOverlap) = (minConfidence, iou)
    request.remarks.forEach(Console.note)
    if let known = request.labels, let unknown = only.first(where: { !known.contains($0) }) {
      throw InputError("the model has no class '\(unknown)'; it has \(known.joined(separator: ", "))")
    }

    let drawings = try outputDir.map { try DrawnImages(in: $0, of: files, "objects") }
    let (wanted, most) = (Set(only), max ?? .max)
    let sheet = SheetWriter(page.sheet, title: "Objects in the images")
    try run.show("detecting", by: model, format, isDocument: output.json, isSafe: spreadsheet.csvSafe, sheet: sheet) {
      [request] index, image in
      let found = try recognizing { () throws(VisionError) in
        try request.detect(image.pixels, orientation: image.orientation)
      }
      let kept = found.filter { wanted.isEmpty || wanted.contains($0.labels.first?.identifier ?? "") }.prefix(most)
      var result = ImageObjects(image: files[index].path, image.uprightSize, kept)
      guard drawings != nil || sheet?.wants(index) == true else { return result }
      let drawn = try recognizing { () throws(VisionError) in
        try image.pixels.drawing(Array(kept), orientation: image.orientation, labels: request.labels ?? [])
      }
      result.drawing = try drawings?.write(drawn, index)
      try sheet?.add(index, result.image, drawn, result.labels)
      return result
    }
  }
}
