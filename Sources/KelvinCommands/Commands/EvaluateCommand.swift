import ArgumentParser
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinMeasuring
import KelvinVision

struct EvaluateCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "evaluate", abstract: "Evaluate models on labelled data, and recommend one for this machine.",
    discussion: """
      Several models, or one model with several --units or --precisions, answer the same examples; each example is \
      read once. All are compared with the first, example by example: the difference of the main figure with its 95 \
      % interval, and for classifiers the probability of such a difference between equally good models (McNemar's \
      exact test). Size, memory and time of each model are measured in a separate process, one after another. The \
      verdict is the fastest model that loses at most two points to the best, or 2 % of an error, with 95 % \
      confidence.

      The task follows from the first model, or from --task. Classification: a folder with one folder per class, a \
      file of lines 'image,class', or a COCO document whose images have one category each; ECE is the expected \
      calibration error. Segmentation: a folder with 'images' and 'labels', where 'labels' holds a PNG of classes \
      for each image (255 is ignored; classes.txt names the classes), or a COCO document with polygons or run \
      lengths. Detection: a COCO document with boxes. Regression: a CSV file with a column for each input, and one \
      with the expected values, named 'target' or as the output. An example that cannot be read is reported on a \
      line of its own and does not stop the command; the exit status is then 65.
      """)

  @Argument(
    help: ArgumentHelp("Models, then the data set.", valueName: "models-and-dataset"), transform: ModelArgument.path)
  var names: [String]

  @Option(
    help: ArgumentHelp(
      "The task: \(Evaluations.all.map { $0.task }.joined(separator: ", ")). (default: that of the first model)",
      valueName: "task"), transform: Self.task)
  var task: (any Evaluation.Type)?

  @Option(help: ArgumentHelp("A file of class labels, one per line, instead of the models' own.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp(
      "A JSON file that describes how a detector's outputs become boxes (docs/detection-heads.md).",
      valueName: "file"))
  var head: String?

  @Option(
    name: .customLong("precisions"),
    help: ArgumentHelp("Precision levels to compare, instead of --precision: full,low.", valueName: "list"),
    transform: Self.precisions)
  var precisions: [ComputePrecision] = []

  @Flag(
    help:
      """
      Mark the models on the Pareto front of accuracy and time, over all precisions unless --precisions is given; \
      the page of --report draws the front.
      """)
  var pareto = false

  @Option(
    help: ArgumentHelp(
      "Write the first model's precision and recall curves, for requests and 'classify --curves'.",
      valueName: "file"))
  var saveCurves: String?

  @Option(help: ArgumentHelp("Write an HTML report with tables, charts and the worst examples.", valueName: "file"))
  var report: String?

  @Option(help: .hidden) var measuredCandidate: Int?
  @Option(help: .hidden) var measuredExample: Int?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsListOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard names.count > 1 else { throw ValidationError("name at least one model, and a data set") }
  }

  private var datasetPath: String { names[names.count - 1] }

  private var candidates: [EvaluationCandidate] {
    let all: [ComputePrecision] = [.full, .low]
    return EvaluationCandidate.all(
      Array(names.dropLast()), units: units.unitsList, precisions: precisions.isEmpty && pareto ? all : precisions,
      options)
  }

  func run() throws {
    if measuredCandidate != nil { ChildProcess.endWithParent() }
    let candidates = candidates
    let first = measuredCandidate.map { min(max($0, 0), candidates.count - 1) } ?? 0
    let model = try candidates[first].load(options)
    var asked = EvaluationOptions()
    asked.labels = try labels.map(LabelFile.read)
    asked.normalization = pixels.normalization
    asked.head = try head.map { path in
      try evaluating { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    asked.cropAndScale = fitting.cropAndScale
    let job = try evaluating { () throws(VisionError) in
      if let task { task } else { try Evaluations.of(model, asked) }
    }
    if measuredCandidate != nil {
      try measure(job, model, asked)
    } else {
      try run(job, candidates, first: model, asked)
    }
  }

  private func run<Job: Evaluation>(
    _ job: Job.Type, _ candidates: [EvaluationCandidate], first: Model, _ asked: EvaluationOptions
  ) throws {
    let dataset = try evaluating { () throws(VisionError) in
      try Job.Dataset(contentsOf: URL(filePath: datasetPath))
    }
    dataset.remarks.forEach(Console.note)
    let contenders = try candidates.enumerated().map { place, candidate in
      let model = place == 0 ? first : try candidate.load(options)
      let request = try evaluating { () throws(VisionError) in try Job.request(for: model, asked) }
      (request.remarks + model.remarks).forEach(Console.note)
      return EvaluationContender(name: candidate.name, request: request)
    }
    let evaluation = try answer(job, contenders, dataset)
    for fault in evaluation.faults { Console.error("'\(fault.name)': \(describe(fault.reason))") }
    evaluation.remarks.forEach(Console.note)
    let costs = try costs(of: evaluation, in: dataset)
    costs.flatMap(\.notes).forEach(Console.note)
    // Results are printed first, so that they are not lost where a file cannot be written.
    if output.json {
      printJSON(try Progress.during("comparing") { try evaluation.json(costs: costs) })
    } else {
      Console.print(Progress.during("comparing") { evaluation.text(costs: costs, showsFront: pareto) })
    }
    if let saveCurves { try save(evaluation, to: saveCurves) }
    if let report {
      let page = Progress.during("drawing") { evaluation.page(title: datasetPath.lastPathPart, costs: costs) }
      try LocalFile.write(page.utf8, to: report)
      Console.note("wrote \(report)")
    }
    if !evaluation.faults.isEmpty { throw ReportedFailure(status: .badData) }
  }

  private func answer<Job: Evaluation>(
    _ job: Job.Type, _ contenders: [EvaluationContender<Job.Request>], _ dataset: Job.Dataset
  ) throws -> Job {
    let progress = Progress("evaluating")
    defer { progress.finish() }
    let count = dataset.examples.count
    return try evaluating { () throws(VisionError) in
      try Job(of: contenders, on: dataset) { done in
        progress.update(Double(done) / Double(count), "\(done) of \(count) \(Job.exampleName)s")
      }
    }
  }

  private func save(_ evaluation: some Evaluation, to path: String) throws {
    guard let evaluation = evaluation as? ClassificationEvaluation else {
      throw UsageError("--save-curves needs a classifier: only classes have precision and recall by confidence")
    }
    let curves = PrecisionRecallCurves(of: evaluation.results[0], in: evaluation)
    try LocalFile.write(curves.json, to: path)
  }

  /// Measures each contender in a process of its own. If that fails, the contender is measured in this process, with a
  /// note.
  private func costs<Job: Evaluation>(of evaluation: Job, in dataset: Job.Dataset) throws -> [CandidateCost] {
    let progress = Progress("measuring")
    defer { progress.finish() }
    let name = evaluation.examples[0].name
    let example = dataset.examples.firstIndex { $0.name == name } ?? 0
    return try evaluation.contenders.enumerated().map { place, contender in
      progress.update(Double(place) / Double(evaluation.contenders.count), contender.name)
      do throws(StartFailure) { return try CandidateMeter.measure(candidate: place, example: example) } catch {
        Console.note(
          "\(contender.name) could not be measured in a process of its own, so its memory is not known: \(error)")
        return try evaluating { () throws(VisionError) in
          try CandidateCost(of: contender.request, answering: try Job.question(of: dataset.examples[example]))
        }
      }
    }
  }

  /// Measures the cost of one contender, in the child process that `CandidateMeter` starts.
  private func measure<Job: Evaluation>(_ job: Job.Type, _ model: Model, _ asked: EvaluationOptions) throws {
    let cost = try evaluating { () throws(VisionError) in
      let dataset = try Job.Dataset(contentsOf: URL(filePath: datasetPath))
      let place = min(max(measuredExample ?? 0, 0), dataset.examples.count - 1)
      return try CandidateCost(
        of: try Job.request(for: model, asked), answering: try Job.question(of: dataset.examples[place]), isAlone: true)
    }
    try CandidateMeter.answer(cost)
  }

  private static func task(_ text: String) throws -> any Evaluation.Type {
    guard let task = Evaluations.named(text) else {
      let known = Evaluations.all.map { $0.task }.joined(separator: ", ")
      throw ValidationError("'\(text)' is not a task; use \(known)")
    }
    return task
  }

  private static func precisions(_ text: String) throws -> [ComputePrecision] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map {
      guard let precision = ComputePrecision(rawValue: String($0)) else {
        let known = ComputePrecision.choices.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("'\($0)' is not a precision; use a list of \(known)")
      }
      return precision
    }
  }
}

/// Runs `body` as `recognizing` does, but treats invalid requests as errors in the data set.
func evaluating<Value>(_ body: () throws(VisionError) -> Value) throws -> Value {
  do throws(VisionError) { return try body() } catch {
    if case .invalidRequest(let reason) = error { throw InputError(reason) }
    throw recognized(error)
  }
}
