import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

struct DetectCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect", abstract: "Says which objects are on pictures and where, by a model that finds them.",
    discussion: """
      Models that say what they found need nothing else: pipelines that end in non-maximum suppression, detectors of \
      torchvision and TensorFlow, DETR, files of Ultralytics' exporter. Of others, such as YOLO's raw heads, a few lines \
      of JSON (--head) say how numbers become boxes: docs/detection-heads.md.

      \(PictureOptions.taken) \
      Places are pixels of the upright picture, from its top left corner, whatever part of it the model saw. With \
      --output-dir each picture is written with its objects drawn on it, as NAME.objects.png.
      """)

  @Argument(help: .model)
  var model: String

  @Argument(help: .pictures)
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

  @Option(help: ArgumentHelp("At most so many objects of each picture, the surest. (default: all)", valueName: "n"))
  var max: Int?

  @Option(help: ArgumentHelp("Only objects of this class. Repeatable.", valueName: "label"))
  var only: [String] = []

  @Option(
    help: ArgumentHelp(
      "Class labels, one a line from class 0 on, in place of the model's own and the head's.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp("Where pictures with their objects are written; made if it is not there.", valueName: "dir"))
  var outputDir: String?

  @Option(help: ArgumentHelp("How results are printed: table, jsonl or csv.", valueName: "form"))
  var format: ListFormat = .table

  @OptionGroup var page: SheetOption
  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one picture") }
    if let max, max < 1 { throw ValidationError("--max takes a number from 1, got \(max)") }
    try output.validate(beside: format)
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let classNames = try labels.map(LabelFile.read)
    let head = try self.head.map { path in
      try recognizing { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    let files = PictureFiles.named(images)
    let run = PictureRun<PictureObjects>(files, orientation: pictures.orientation)
    let model = try Model.loadWithProgress(self.model, configuration)
    if model.modelDescription.isClassifier {
      throw InputError("the model classifies whole pictures; use 'kelvin classify'")
    }
    var request = try recognizing { () throws(VisionError) in
      try DetectionRequest(model: model, head: head, labels: classNames, normalization: pixels.normalization)
    }
    request.cropAndScaleAction = pictures.cropAndScale ?? request.cropAndScaleAction
    (request.minimumConfidence, request.maximumOverlap) = (minConfidence, iou)
    request.remarks.forEach(Console.note)
    if let known = request.labels, let unknown = only.first(where: { !known.contains($0) }) {
      throw InputError("the model has no class '\(unknown)'; it has \(known.joined(separator: ", "))")
    }

    let drawings = try outputDir.map { try DrawnPictures(in: $0, of: files, "objects") }
    let (wanted, most) = (Set(only), max ?? .max)
    let sheet = SheetWriter(page.sheet, title: "Objects on the pictures")
    try run.show("detecting", by: model, format, isDocument: output.json, sheet: sheet) { [request] index, picture in
      let found = try recognizing { () throws(VisionError) in
        try request.detect(picture.pixels, orientation: picture.orientation)
      }
      let kept = found.filter { wanted.isEmpty || wanted.contains($0.labels.first?.identifier ?? "") }.prefix(most)
      var result = PictureObjects(image: files[index].path, picture.uprightSize, kept)
      guard drawings != nil || sheet?.wants(index) == true else { return result }
      let drawn = try recognizing { () throws(VisionError) in
        try picture.pixels.drawing(Array(kept), orientation: picture.orientation, labels: request.labels ?? [])
      }
      result.drawing = try drawings?.write(drawn, index)
      try sheet?.add(index, result.image, drawn, result.labels)
      return result
    }
  }
}
