import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinVision

struct PoseCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "pose", abstract: "Detect the poses of people in images, using a PoseNet model.",
    discussion: """
      The model gives scores of 17 joints in cells of the image, offsets to the joints, and displacements between \
      joints, along which poses grow from the most confident joints. Without displacements, or with --single, there \
      is one pose, with each joint at its largest score.

      \(ImageOptions.taken) Coordinates are pixels of the upright image from its top left corner, whatever part of \
      it the model saw. With --output-dir, each image is written with its poses as NAME.poses.png.
      """)

  @Argument(help: .model, transform: ModelArgument.path)
  var model: String

  @Argument(help: .images)
  var images: [String]

  @Flag(help: "Find one person, with each joint at its largest score.")
  var single = false

  @Option(help: ArgumentHelp("The maximum number of poses in an image. (default: 10)", valueName: "n"))
  var maxPoses: Int?

  @Option(
    help: ArgumentHelp(
      "The minimum confidence of a pose, 0 to 1: the mean of its joints. (default: 0.2)",
      valueName: "share"), transform: ConfidenceOptions.share)
  var minConfidence: Float?

  @Option(
    help: ArgumentHelp(
      """
      The minimum confidence of a joint, 0 to 1. Joints below it are neither drawn nor counted; JSON and CSV hold \
      all.
      """,
      valueName: "share"), transform: ConfidenceOptions.share)
  var minJointConfidence: Float = 0.3

  @Option(help: ArgumentHelp("The folder for images with their poses; created if it does not exist.", valueName: "dir"))
  var outputDir: String?

  @Flag(help: "Draw joints without their names.")
  var noNames = false

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
    if let maxPoses, maxPoses < 1 { throw ValidationError("--max-poses must be at least 1, got \(maxPoses)") }
    if single, maxPoses != nil { throw ValidationError("--single and --max-poses contradict each other") }
    try output.validate(beside: format)
    try spreadsheet.validate(writesCSV: format == .csv, "--format csv")
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let files = ImageFileList.named(images)
    let run = ImageRun<ImagePoses>(files, orientation: imageOptions.orientation)
    let model = try Model.loadWithProgress(self.model, configuration)
    var request = try recognizing { () throws(VisionError) in
      try PoseRequest(model: model, normalization: pixels.normalization)
    }
    request.cropAndScaleAction = imageOptions.cropAndScale ?? request.cropAndScaleAction
    request.isSingle = single
    request.maximumPoseCount = maxPoses ?? request.maximumPoseCount
    request.minimumConfidence = minConfidence ?? request.minimumConfidence
    request.remarks.forEach(Console.note)

    let drawings = try outputDir.map { try DrawnImages(in: $0, of: files, "poses") }
    let (least, hasNames) = (minJointConfidence, !noNames)
    let sheet = SheetWriter(page.sheet, title: "Poses in the images")
    try run.show("finding poses", by: model, format, isDocument: output.json, isSafe: spreadsheet.csvSafe, sheet: sheet)
    { [request] index, image in
      let found = try recognizing { () throws(VisionError) in
        try request.poses(image.pixels, orientation: image.orientation)
      }
      var result = ImagePoses(image: files[index].path, image.uprightSize, found, leastJoint: least)
      guard drawings != nil || sheet?.wants(index) == true else { return result }
      let drawn = try recognizing { () throws(VisionError) in
        try image.pixels.drawing(
          found, orientation: image.orientation, minimumConfidence: least, hasNames: hasNames)
      }
      result.drawing = try drawings?.write(drawn, index)
      try sheet?.add(index, result.image, drawn, result.labels)
      return result
    }
  }
}
