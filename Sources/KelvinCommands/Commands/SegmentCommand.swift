import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinVision

struct SegmentCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "segment",
    abstract: "Says which part of a picture is what, by a model that gives every place a class.",
    discussion: """
      For each picture two files are written: NAME.labels.png, of its size, whose pixels are the numbers of classes \
      (an indexed PNG; 255 is what a crop kept from the model), and NAME.overlay.png, the picture under the classes' \
      colours with a legend below it. Names and colours come from the model. A model without them gets colours that \
      stay apart for every kind of colour vision, and --labels names its classes. A model whose input is a plain \
      tensor does not say how pixels enter it: --normalization does.
      """)

  @Argument(help: .model)
  var model: String

  @Argument(help: "Picture files: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF.")
  var images: [String]

  @Option(help: ArgumentHelp("Where files are written; made if it is not there.", valueName: "dir"))
  var outputDir: String

  @Option(
    name: .customLong("output"),
    help: ArgumentHelp("The output with the classes. (default: the only one that can be meant)", valueName: "name"))
  var outputName: String?

  @Option(
    help: ArgumentHelp("Class labels, one a line from class 0 on, in place of the model's own.", valueName: "file"))
  var labels: String?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  /// A class that a picture has, and how much of the picture it is, 0…1.
  private struct Part: Encodable {
    var index: Int
    var label: String
    var share: Double
    var pixels: Int
    var color: String

    init(_ part: SegmentationObservation.Part) {
      (index, label, share) = (part.index, part.label, part.share)
      (pixels, color) = (part.pixelCount, part.color)
    }
  }

  private struct Result: Encodable {
    var image: String
    var width: Int?
    var height: Int?
    /// The largest first.
    var classes: [Part] = []
    /// What a crop kept from the model, 0…1.
    var unseen: Double?
    var labelMap: String?
    var overlay: String?
    var error: String?
  }

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one picture") }
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let classNames = try labels.map(LabelFile.read)
    let model = try Model.loadWithProgress(self.model, configuration)
    if model.modelDescription.isClassifier {
      throw InputError("the model classifies whole pictures; use 'kelvin classify'")
    }
    var request = try recognizing { () throws(VisionError) in
      try SegmentationRequest(
        model: model, output: outputName, labels: classNames, normalization: pixels.normalization)
    }
    request.cropAndScaleAction = pictures.cropAndScale ?? request.cropAndScaleAction
    request.remarks.forEach(Console.note)
    try LocalFile.makeFolder(outputDir)

    let progress = Progress("segmenting")
    var names = FileNames()
    var results: [Result] = []
    for (index, path) in images.enumerated() {
      progress.update(Double(index) / Double(images.count), path)
      let stem = names.next(for: path)
      do {
        let decoded = try ImageFile.decode(path: path, orientation: pictures.orientation)
        let observation = try recognizing { () throws(VisionError) in
          try request.segment(decoded.pixels, orientation: decoded.orientation)
        }
        results.append(try write(observation, of: decoded, path, stem))
      } catch let error as ImageError where error.code != .encodingFailed {
        progress.finish()
        Console.error(describe(error))
        results.append(Result(image: path, error: describe(error)))
      }
    }
    progress.finish()
    model.remarks.forEach(Console.note)
    if output.json { try printJSON(results) } else { show(results) }
    if results.contains(where: { $0.error != nil }) { throw SilentFailure(status: .badData) }
  }

  private func write(
    _ observation: SegmentationObservation, of picture: DecodedImage, _ path: String, _ stem: String
  ) throws -> Result {
    let (mapPath, overlayPath) = ("\(outputDir)/\(stem).labels.png", "\(outputDir)/\(stem).overlay.png")
    try LocalFile.write(try observation.labelMapPNG(name: mapPath), to: mapPath)
    let overlay = try recognizing { () throws(VisionError) in
      try observation.overlay(on: picture.pixels, orientation: picture.orientation)
    }
    try LocalFile.write(try ImageFile.encode(overlay, as: .png, name: overlayPath), to: overlayPath)
    return Result(
      image: path, width: observation.width, height: observation.height, classes: observation.parts.map(Part.init),
      unseen: observation.unseenShare > 0 ? observation.unseenShare : nil, labelMap: mapPath, overlay: overlayPath)
  }

  private func show(_ results: [Result]) {
    let good = results.filter { $0.error == nil }
    guard !good.isEmpty else { return }
    var table = TextTable(
      .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("CLASS", shrinksTo: 12), .init("SHARE", .right),
      .init("COLOUR"))
    for result in good {
      for (rank, part) in result.classes.enumerated() {
        table.add(rank == 0 ? result.image : "", part.label, HumanReadable.percent(part.share), part.color)
      }
      if let unseen = result.unseen {
        table.add(result.classes.isEmpty ? result.image : "", "(cropped away)", HumanReadable.percent(unseen), "")
      }
    }
    Console.print(table.text() + "\n")
    Console.print(lines: good.flatMap { result in result.overlay.map { [result.labelMap ?? "", $0] } ?? [] })
  }
}
