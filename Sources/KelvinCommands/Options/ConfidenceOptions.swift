import ArgumentParser
import FoundationEssentials
import KelvinBasics
import KelvinVision

/// Options that filter labels by confidence.
struct ConfidenceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("The minimum confidence of a label, 0 to 1.", valueName: "share"),
    transform: share)
  var minConfidence: Float?

  @Option(
    help: ArgumentHelp(
      """
      The minimum precision of a label, 0 to 1, by the model's precision and recall curves; with --min-recall, at \
      that recall.
      """, valueName: "share"), transform: share)
  var minPrecision: Float?

  @Option(
    help: ArgumentHelp(
      "The minimum recall of a label, 0 to 1, by the model's precision and recall curves.",
      valueName: "share"), transform: share)
  var minRecall: Float?

  var filter: ConfidenceFilter {
    ConfidenceFilter(
      minimumConfidence: minConfidence ?? 0, minimumPrecision: minPrecision, minimumRecall: minRecall)
  }

  var isGiven: Bool { minConfidence != nil || minPrecision != nil || minRecall != nil }

  static func share(_ text: String) throws -> Float {
    guard let share = NumberText.number(text).map({ Float($0) }), (0...1).contains(share) else {
      throw ValidationError("'\(text)' is not a share; use a number from 0 to 1, such as 0.9")
    }
    return share
  }
}

/// The option for precision and recall curves of a model's classes.
struct CurvesOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      A file of precision and recall curves, from an evaluation. (default: those of the model, its metadata, or \
      MODEL.curves.json)
      """, valueName: "file"))
  var curves: String?

  func read() throws -> PrecisionRecallCurves? {
    try curves.map { path in
      do throws(VisionError) { return try PrecisionRecallCurves(contentsOf: URL(filePath: path)) } catch {
        throw InputError(error.description)
      }
    }
  }
}
