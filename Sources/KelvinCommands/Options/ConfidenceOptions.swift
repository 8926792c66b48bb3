import ArgumentParser
import FoundationEssentials
import KelvinVision

/// Options that filter labels by confidence.
struct ConfidenceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Only labels that the model is at least so sure of, 0 to 1.", valueName: "share"),
    transform: share)
  var minConfidence: Float?

  @Option(
    help: ArgumentHelp(
      """
      Only labels so sure that at least this share of such answers is right, 0 to 1, by the model's own curves; with \
      --min-recall, where that share is found.
      """, valueName: "share"), transform: share)
  var minPrecision: Float?

  @Option(
    help: ArgumentHelp(
      "Only labels so sure that at least this share of a label's images is still found, 0 to 1, by the model's own curves.",
      valueName: "share"), transform: share)
  var minRecall: Float?

  var filter: ConfidenceFilter {
    ConfidenceFilter(
      minimumConfidence: minConfidence ?? 0, minimumPrecision: minPrecision, minimumRecall: minRecall)
  }

  var isGiven: Bool { minConfidence != nil || minPrecision != nil || minRecall != nil }

  static func share(_ text: String) throws -> Float {
    guard let share = Float(text), (0...1).contains(share) else {
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
      Precision and recall of the classes, from an evaluation. (default: what the model says, else its metadata, else \
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
