import ArgumentParser
import Kelvin
import KelvinBasics
import KelvinVision

struct ClassifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "classify", abstract: "Says what is on pictures, by a model that takes one picture and gives labels.",
    discussion: """
      A picture is turned upright as its EXIF orientation says, then fitted to the model's size. A model whose input \
      is a plain tensor does not say how pixels enter it: --normalization does, and --labels names its classes.
      """)

  @Argument(help: .model)
  var model: String

  @Argument(help: "Picture files: JPEG, PNG, WebP, TIFF, BMP, GIF, AVIF.")
  var images: [String]

  @Option(help: ArgumentHelp("How many labels to show for each picture.", valueName: "n"))
  var top: Int = 5

  @Option(
    help: ArgumentHelp("Class labels, one a line, in place of the model's own.", valueName: "file"))
  var labels: String?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var pictures: PictureOptions
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  struct Observation: Encodable {
    var identifier: String
    var confidence: Double
  }

  private struct Result: Encodable {
    var image: String
    var observations: [Observation]
    var error: String?
  }

  func validate() throws {
    guard !images.isEmpty else { throw ValidationError("name at least one picture") }
    guard top > 0 else { throw ValidationError("--top takes a number from 1, got \(top)") }
  }

  func run() throws {
    let configuration = try options.configuration(units: units.units)
    let names = try labels.map(LabelFile.read)
    let model = try Model.loadWithProgress(self.model, configuration)
    var request = try recognizing { () throws(VisionError) in
      try ClassificationRequest(model: model, labels: names, normalization: pixels.normalization)
    }
    request.cropAndScaleAction = pictures.cropAndScale ?? request.cropAndScaleAction
    request.remarks.forEach(Console.note)

    let progress = Progress("classifying")
    var results: [Result] = []
    for (index, path) in images.enumerated() {
      progress.update(Double(index) / Double(images.count), path)
      do {
        let decoded = try ImageFile.decode(path: path, orientation: pictures.orientation)
        let classes = try recognizing { () throws(VisionError) in
          try request.classify(decoded.pixels, orientation: decoded.orientation)
        }
        let observations = classes.prefix(top).map {
          Observation(identifier: $0.identifier, confidence: Double($0.confidence))
        }
        results.append(Result(image: path, observations: observations))
      } catch let error as ImageError {
        progress.finish()
        Console.error(describe(error))
        results.append(Result(image: path, observations: [], error: describe(error)))
      }
    }
    progress.finish()
    model.remarks.forEach(Console.note)
    if output.json { try printJSON(results) } else { show(results) }
    if results.contains(where: { $0.error != nil }) { throw SilentFailure(status: .badData) }
  }

  private func show(_ results: [Result]) {
    let good = results.filter { $0.error == nil }
    guard !good.isEmpty else { return }
    var table = TextTable(
      .init("IMAGE", shrinksTo: 16, cut: .beginning), .init("LABEL", shrinksTo: 16), .init("CONFIDENCE", .right))
    for result in good {
      for (rank, observation) in result.observations.enumerated() {
        table.add(rank == 0 ? result.image : "", observation.identifier, HumanReadable.percent(observation.confidence))
      }
    }
    Console.print(table.text())
  }
}

/// Files of class labels.
package enum LabelFile {
  /// One label a line; empty lines at the end do not count.
  package static func labels(in text: String) -> [String] {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  static func read(_ path: String) throws -> [String] {
    let labels = labels(in: String(decoding: try LocalFile.read(path), as: UTF8.self))
    guard !labels.isEmpty else { throw InputError("'\(path)' holds no labels; expected one a line") }
    return labels
  }
}
