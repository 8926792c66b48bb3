import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct DetectCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect", abstract: "Says which objects are on images and where, by a model that finds them.",
    discussion: """
      Models that say what they found need nothing else: pipelines that end in non-maximum suppression, detectors of \
      torchvision and TensorFlow, DETR, files of Ultralytics' exporter. Of others, such as YOLO's raw heads, a few lines \
      of JSON (--head) say how numbers become boxes: docs/detection-heads.md.

      \(ImageOptions.taken) \
      Places are pixels of the upright image, from its top left corner, whatever part of it the model saw. With \
      --output-dir each image is written with its objects drawn on it, as NAME.objects.png.
      """)

  @Argument(help: .model)
  var model: String

  @Argument(help: .images)
  var images: [String]

  @Option(help: ArgumentHelp("How the model's outputs become boxes, where it does not say.", valueName: "file"))
  var head: String?

  @Option(
    help: ArgumentHelp(
      "Only objects that the model is at least so sure of, 0 to 1. (default: as the model or its head says)",
      valueName: "share"), transform: ConfidenceOptions.share)
  var minConfidence: Float?

  @Option(
    help: ArgumentHelp(
      """
      Of two boxes that share more than this part of what they cover together only the surer one, 0 to 1. (default: as \
      the model or its head says)
      """, valueName: "share"), transform: ConfidenceOptions.share)
  var iou: Float?

  @Option(help: ArgumentHelp("At most so many objects of each image, the surest. (default: all)", valueName: "n"))
  var max: Int?

  @Option(help: ArgumentHelp("Only objects of this class. Repeatable.", valueName: "label"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "Class labels, one a line from class 0 on, in place of the model's own and the head's.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp("Where images with their objects are written; made if it is not there.", valueName: "dir"))
  var outputDir: String?

  @Option(help: ArgumentHelp("How results are printed: table, jsonl or csv.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var page: SheetOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var imageOptions: ImageOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one image") }
    if let max, max < 1 { throw ValidationError("--max takes a number from 1, got \(max)") }
    try output.validate(beside: format)
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
    let sheet = SheetWriter(page.sheet, title: "Objects on the images")
    try run.show("detecting", by: model, format, isDocument: output.json, sheet: sheet) { [request] index, image in
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
