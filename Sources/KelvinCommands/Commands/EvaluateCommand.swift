import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinVision

struct EvaluateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate", abstract: "Says how often classifiers are right on pictures whose classes are known.",
    discussion: """
      Several models, or one on several --units and with several --precisions, see the same pictures, each of which is \
      decoded once. All are held against the first: the difference in top-1 with its interval (paired, 95 %), and how \
      likely a difference so large is between two that are equally good (McNemar's exact test). ECE is the expected \
      calibration error, how far confidences are from shares of right answers.

      The data set is a folder with one folder for each class, a file of lines 'picture,class', or a document as COCO's \
      whose pictures have one category each. A picture that cannot be read is a line and never the end; the status is 65 \
      then, once all is done.
      """)

  @Argument(help: ArgumentHelp("Models, then the data set.", valueName: "models-and-dataset"))
  var names: [String]

  @Option(help: ArgumentHelp("Class labels, one a line, in place of the models' own.", valueName: "file"))
  var labels: String?

  @Option(
    name: .customLong("precisions"),
    help: ArgumentHelp("Numerics to compare, in place of --precision: full,high,low.", valueName: "list"),
    transform: Self.precisions)
  var precisions: [ComputePrecision] = []

  @Option(
    help: ArgumentHelp(
      "Write the first model's curves of precision and recall, which requests and 'classify --curves' read.",
      valueName: "file"))
  var saveCurves: String?

  @Option(help: ArgumentHelp("Write a page with tables, charts and the worst pictures.", valueName: "file"))
  var report: String?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard names.count > 1 else { throw ValidationError("name at least one model, and a data set") }
  }

  func run() throws {
    let models = names.dropLast()
    let dataset = try evaluating { () throws(VisionError) in
      try LabelledPictures(contentsOf: URL(filePath: names[names.count - 1]))
    }
    dataset.remarks.forEach(Console.note)
    let contestants = try EvaluationContestant.all(
      Array(models), units: units.unitsList, precisions: precisions, labels: try labels.map(LabelFile.read),
      normalization: pixels.normalization, cropAndScale: fitting.cropAndScale, options)
    for remark in Set(contestants.flatMap(\.remarks)).sorted() { Console.note(remark) }
    let progress = Progress("evaluating")
    let count = dataset.pictures.count
    let evaluation = try evaluating { () throws(VisionError) in
      try ClassificationEvaluation(of: contestants.map(\.contender), on: dataset) { done in
        progress.update(Double(done) / Double(count), "\(done) of \(count) pictures")
      }
    }
    progress.finish()
    for fault in evaluation.faults { Console.error("'\(fault.path)': \(describe(fault.reason))") }
    for unknown in evaluation.unknownLabels {
      let shown = unknown.labels.prefix(3).map { "'\($0)'" }.joined(separator: ", ")
      let more = unknown.labels.count > 3 ? ", …" : ""
      Console.note(
        "\(unknown.contender) has no answer for \(unknown.labels.count) of the data set's classes (\(shown)\(more)): "
          + "pictures of these count as wrong")
    }
    let costs = try contestants.map { try $0.cost(on: evaluation.pictures[0].path) }
    let table = EvaluationTable(evaluation, costs: costs)
    if let saveCurves {
      let curves = PrecisionRecallCurves(of: evaluation.results[0], in: evaluation)
      try LocalFile.write(curves.json, to: saveCurves)
    }
    if let report {
      let page = evaluation.page(title: names[names.count - 1].lastPathPart, costs: costs)
      try LocalFile.write(page.utf8, to: report)
    }
    if output.json { try printJSON(table.document) } else { Console.print(table.text) }
    if !evaluation.faults.isEmpty { throw SilentFailure(status: .badData) }
  }

  private static func precisions(_ text: String) throws -> [ComputePrecision] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map {
      guard let precision = ComputePrecision(rawValue: String($0)) else {
        let known = ComputePrecision.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\($0)' is not a precision; use a list of \(known)")
      }
      return precision
    }
  }
}

/// As `recognizing`, where a request is about the data set.
func evaluating<Value>(_ body: () throws(VisionError) -> Value) throws -> Value {
  do throws(VisionError) { return try body() } catch {
    if case .invalidRequest(let reason) = error { throw InputError(reason) }
    throw recognized(error)
  }
}
