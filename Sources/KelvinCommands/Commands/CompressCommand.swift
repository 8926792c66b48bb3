import ArgumentParser
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinCollections
import KelvinCompression
import KelvinVision

struct CompressCommand: ParsableCommand, ModelCommand {
  static let configuration = CommandConfiguration(
    commandName: "compress", abstract: "Write a copy of a model with smaller weights.",
    usage: "kelvin compress [<options>] <model> <copy>",
    discussion: """
      Example: kelvin compress MobileNetV2.mlpackage Small.mlpackage --data photos --budget 2.5MB

      The model is an ML Program in an .mlpackage or an ONNX model, and so is the copy. The forms of a weight:
        palette-N            indices of 1, 2, 3, 4, 6 or 8 bits into an optimal table
        palette-N-group-G    a table for each G channels
        palette-N-scaled     a table, and a scale for each channel
        palette-N-vector-V   a table of vectors of 2 or 4 numbers
        int8, int4           integers, and a scale for each channel
        int4-block-B         integers, and a scale for each B inputs of a channel
        prune-P, prune-N:M   without the smallest P %; N of each M inputs
        prune-50+palette-4   both; also with int8 and int4
        float16              for weights of float32
        original             as in the model
      An ML Program needs iOS 16 for palette-1, -2, -4, -6 and -8, int8, prune and float16, else iOS 18. An ONNX model \
      takes float16, int8 (DequantizeLinear), and int4-block-32 for MatMul (MatMulNBits of ONNX Runtime).

      --budget and --max-loss choose a form for each weight. With --data the command measures how much each weight \
      changes the outputs, and runs the copy on all samples. They are labelled images as for 'evaluate' of \
      classification, segmentation or detection, other images, or a file .jsonl with a line for each sample: \
      {"input": [[1, 2]]}. Without --data the squared errors of the weights stand for their effect.

      Activations are not quantized; ONNX Runtime and coremltools have tools for that.
      """)

  @Argument(
    help: "An .mlpackage folder with an ML Program, or an .onnx file.", transform: ModelArgument.path)
  var model: String

  @Argument(help: "The .mlpackage folder or .onnx file to write, which must not exist.")
  var copy: String

  @Option(
    help: ArgumentHelp("One form for all weights, such as palette-6.", valueName: "form"), transform: Self.form)
  var form: WeightForm?

  @Option(help: ArgumentHelp("The form of each weight, as --save-forms writes it.", valueName: "file.json"))
  var forms: String?

  @Option(
    help: ArgumentHelp("The greatest size of the copy: 2.5MB, 800KiB.", valueName: "size"),
    transform: LimitOptions.bytes)
  var budget: Int?

  @Option(
    help: ArgumentHelp(
      "The greatest loss of right answers, in points of a hundred; the smallest such copy is written.",
      valueName: "points"), transform: Self.points)
  var maxLoss: Double?

  @Option(help: ArgumentHelp("Images or inputs that measure the copy.", valueName: "dataset"))
  var data: String?

  @Option(
    help: ArgumentHelp(
      "The least version of iOS that reads the copy, 16 or 18, for --budget and --max-loss.", valueName: "version"),
    transform: Self.system)
  var ios = 16

  @Option(
    help: ArgumentHelp(
      """
      Of several copies within --budget or --max-loss: size, or latency for the fastest that loses at most a point \
      more.
      """, valueName: "goal"))
  var goal = Goal.size

  @Flag(help: "Count the errors of a weight's elements by the mean squares of the values that they multiply in --data.")
  var importance = false

  @Option(help: ArgumentHelp("Write the form of each weight to this file.", valueName: "file.json"))
  var saveForms: String?

  @Option(
    help: ArgumentHelp("A file of class labels, one per line, instead of the model's own.", valueName: "file"))
  var labels: String?

  @Option(
    help: ArgumentHelp(
      "A JSON file that describes how a detector's outputs become boxes (docs/detection-heads.md).",
      valueName: "file"))
  var head: String?

  @Option(help: .hidden) var measuredCopy: String?
  @Option(help: .hidden) var measuredDevice: String?

  @OptionGroup var pixels: NormalizationOption
  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var report: ReportOption
  @OptionGroup var output: OutputOptions

  enum Goal: String, ExpressibleByArgument {
    case size, latency
  }

  private static func form(_ text: String) throws -> WeightForm {
    guard let form = WeightForm(text) else {
      throw ValidationError("'\(text)' is not a form of weights; use one such as palette-6, int8 or prune-50+palette-4")
    }
    return form
  }

  private static func system(_ text: String) throws -> Int {
    guard text == "16" || text == "18" else { throw ValidationError("'\(text)' is not 16 or 18") }
    return text == "16" ? 16 : 18
  }

  private static func points(_ text: String) throws -> Double {
    let number = text.hasSuffix("pt") ? String(text.dropLast(2)) : text
    guard let points = NumberText.number(number), (0...100).contains(points) else {
      throw ValidationError("'\(text)' is not a number of points; use 1 or 0.5pt")
    }
    return points
  }

  func validate() throws {
    let count = [form != nil, forms != nil, budget != nil, maxLoss != nil].count { $0 }
    guard count == 1 else {
      throw ValidationError("give one of --form, --forms, --budget and --max-loss\(count == 0 ? "" : ", not several")")
    }
    if report.report != nil, data == nil {
      throw ValidationError("--report needs --data, the samples that measure the copies")
    }
    if maxLoss != nil, data == nil { throw ValidationError("--max-loss needs --data, the samples that measure it") }
    if importance, data == nil { throw ValidationError("--importance needs --data, the samples that measure it") }
    if goal == .latency, data == nil || budget == nil && maxLoss == nil {
      throw ValidationError("--goal latency needs --data, and --budget or --max-loss")
    }
  }

  func run() throws {
    if let measuredCopy { return try measure(measuredCopy) }
    // A search takes minutes.
    guard access(copy.pathBytes, F_OK) != 0 else {
      throw InputError("'\(copy)' exists; delete it, or name another copy")
    }
    let samples = try data.map { try self.samples($0) }
    let compressor = try compressor(samples)
    let search = try samples.map { try self.search(compressor, $0) }
    let needsOptions = budget != nil || maxLoss != nil || report.report != nil
    let options = needsOptions ? try self.options(compressor, search) : []
    let chosen = try chosenForms(compressor, search, options)
    let outcomes = try search.map { search in
      try Progress.during("measuring") { try Interrupts.cancelling { try await Self.outcomes(search, chosen) } }
    }
    let byteCount = try compressor.write(chosen, to: URL(filePath: copy))
    let result = CompressionReport(
      compressor, chosen, byteCount: byteCount, outcomes, search?.measure)
    if let saveForms { try LocalFile.write(Array(try jsonText(FormFile(compressor, chosen)).utf8), to: saveForms) }
    if let path = report.report, let search, let outcomes {
      try LocalFile.write(Array(try page(search, options, outcomes).html().utf8), to: path)
      Console.note("wrote \(path)")
    }
    if output.json { try printJSON(result) } else { Console.print(result.text(width: Console.width)) }
  }

  /// Runs the copy and the original on all samples, and times both in turns.
  private static func outcomes(
    _ search: CompressionSearch, _ chosen: [WeightForm]
  ) async throws(ModelError) -> CompressionReport.Outcomes {
    var (original, copy) = (try await search.originalOutcome(), try await search.outcome(chosen))
    let times = try await search.times(of: [original.forms, chosen])
    (original.time, copy.time) = (times.median(of: 0), times.median(of: 1))
    return CompressionReport.Outcomes(original: original, copy: copy, isSlower: times.isFaster(0, than: 1))
  }

  private func page(
    _ search: CompressionSearch, _ options: [[CompressionChoice.Option]],
    _ outcomes: CompressionReport.Outcomes
  ) throws -> CompressionPage {
    let outcome = outcomes.copy
    let costs = try costs(search.compressor, outcome.forms)
    let progress = Progress("measuring other sizes")
    defer { progress.finish() }
    let candidates = search.compressor.candidates(system: ios)
    var copies = try Interrupts.cancelling {
      try await search.frontier(options, in: candidates) { progress.update($0) }
    }
    copies.removeAll { $0.forms == outcome.forms }
    let place = copies.firstIndex { $0.byteCount > outcome.byteCount } ?? copies.endIndex
    copies.insert(outcome, at: place)
    return CompressionPage(
      title: model.lastPathPart, weights: search.compressor.weights, original: outcomes.original, copies: copies,
      chosen: place, measure: search.measure, costs: costs)
  }

  private static func known(_ compressor: ModelCompressor) -> String {
    compressor.system == nil
      ? "an ONNX model takes float16, int8, and int4-block-16, -32, -64 and so on for MatMul"
      : "its weights may be too small, float16 already, or not divide into the form's parts"
  }

  private func chosenForms(
    _ compressor: ModelCompressor, _ search: CompressionSearch?, _ options: [[CompressionChoice.Option]]
  ) throws -> [WeightForm] {
    if let form {
      guard
        form == .original
          || compressor.weights.indices.contains(where: { compressor.codings(of: $0, in: [form])[0] != nil })
      else {
        throw InputError("no weight of '\(model.lastPathPart)' can have the form \(form); \(Self.known(compressor))")
      }
      return compressor.weights.map { _ in form }
    }
    if let forms { return try FormFile(contentsOf: forms).forms(for: compressor, in: forms) }
    guard let search, let maxLoss else {
      let (limit, candidates) = (budget ?? 0, compressor.candidates(system: ios))
      let found: [WeightForm]? =
        if let search {
          try Progress.during("comparing copies") {
            try Interrupts.cancelling { try await search.best(options, in: candidates, budget: limit) }
          }
        } else {
          try CompressionSearch.forms(of: compressor, options, in: candidates, budget: limit)
        }
      guard let found else {
        throw InputError(
          "no copy has at most \(HumanReadable.bytes(limit)); the smallest forms take "
            + "\(HumanReadable.bytes(try smallest(compressor, options)))")
      }
      return try fastest(found, search, options, budget: limit)
    }
    let found = try smallestForms(compressor, search, options, maxLoss: maxLoss)
    return try fastest(found, search, options, budget: compressor.byteCount)
  }

  /// Returns the forms, or those of a faster copy if latency is the goal.
  private func fastest(
    _ found: [WeightForm], _ search: CompressionSearch?, _ options: [[CompressionChoice.Option]], budget: Int
  ) throws -> [WeightForm] {
    guard goal == .latency, let search else { return found }
    let (candidates, maxLoss) = (search.compressor.candidates(system: ios), maxLoss)
    return try Progress.during("comparing times") {
      try Interrupts.cancelling {
        let others = try search.alternatives(options, in: candidates, budget: budget)
        return try await search.fastest(found, others, maxLoss: maxLoss)
      }
    }
  }

  /// Returns the number of bytes of the copy with the smallest form of each weight.
  private func smallest(
    _ compressor: ModelCompressor, _ options: [[CompressionChoice.Option]]
  ) throws -> Int {
    let forms = compressor.candidates(system: ios) + [.original]
    return try compressor.byteCount(
      options.map { list in forms[list.indices.min { list[$0].byteCount < list[$1].byteCount } ?? forms.count - 1] })
  }

  private func options(
    _ compressor: ModelCompressor, _ search: CompressionSearch?
  ) throws -> [[CompressionChoice.Option]] {
    let progress = Progress("trying forms")
    defer { progress.finish() }
    let candidates = compressor.candidates(system: ios)
    guard let search else { return CompressionSearch.options(of: compressor, candidates) { progress.update($0) } }
    return try Interrupts.cancelling { try await search.options(candidates) { progress.update($0) } }
  }

  /// Returns the forms of the smallest copy whose loss is at most a number of points, by halving the range of sizes.
  private func smallestForms(
    _ compressor: ModelCompressor, _ search: CompressionSearch, _ options: [[CompressionChoice.Option]],
    maxLoss: Double
  ) throws -> [WeightForm] {
    let progress = Progress("comparing sizes")
    defer { progress.finish() }
    var (low, high) = (try smallest(compressor, options), compressor.byteCount)
    var best = compressor.weights.map { _ in WeightForm.original }
    for step in 0..<7 {
      let middle = (low + high) / 2
      progress.update(Double(step) / 7, HumanReadable.bytes(middle))
      guard
        let forms = try CompressionSearch.forms(
          of: compressor, options, in: compressor.candidates(system: ios), budget: middle)
      else {
        low = middle
        continue
      }
      let outcome = try Interrupts.cancelling { try await search.outcome(forms) }
      if outcome.loss <= maxLoss { (best, high) = (forms, middle) } else { low = middle }
    }
    return best
  }

  private func samples(_ path: String) throws -> CompressionSamples {
    let read = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    var asked = EvaluationOptions()
    asked.labels = try labels.map(LabelFile.read)
    asked.head = try head.map { path in
      try evaluating { () throws(VisionError) in try DetectionHead(contentsOf: URL(filePath: path)) }
    }
    asked.cropAndScale = fitting.cropAndScale
    asked.normalization = pixels.normalization
    let configuration = try options.configuration(units: units.units)
    return try CompressionSamples(path, for: read, options.function, asked) {
      try .loadWithProgress(model, configuration)
    }
  }

  /// The number of samples that find the importance of elements.
  private static let importanceCount = 32

  private func compressor(_ samples: CompressionSamples?) throws -> ModelCompressor {
    let compressor = try ModelCompressor(contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    guard importance, let inputs = samples?.samples.map(\.input) else { return compressor }
    let step = max(1, inputs.count / Self.importanceCount)
    let some = stride(from: 0, to: inputs.count, by: step).prefix(Self.importanceCount).map { inputs[$0] }
    let configuration = try options.configuration(units: units.units)
    let (weighted, count) = try Progress.during("measuring inner values") {
      try Interrupts.cancelling { try await compressor.weighted(by: some, configuration: configuration) }
    }
    if count < compressor.weights.count {
      Console.note(
        "the elements of \(compressor.weights.count - count) of \(compressor.weights.count) weights count equally: their "
          + "operations are not products of an ML Program, or have groups")
    }
    return weighted
  }

  private func search(_ compressor: ModelCompressor, _ samples: CompressionSamples) throws -> CompressionSearch {
    let configuration = try options.configuration(units: units.units)
    return try Progress.during("running the original") {
      try Interrupts.cancelling {
        try await CompressionSearch(
          compressor, samples: samples.samples, configuration: configuration, measure: samples.measure)
      }
    }
  }
}

/// A file with the form of each weight, by name.
struct FormFile: Codable {
  var format = "kelvin-forms"
  var version = 1
  let forms: [String: String]

  init(_ compressor: ModelCompressor, _ chosen: [WeightForm]) {
    forms = Dictionary(zip(compressor.weights.map(\.name), chosen.map(\.description))) { first, _ in first }
  }

  init(contentsOf path: String) throws {
    do { self = try JSONText.decode(Self.self, from: try LocalFile.read(path)) } catch let error as ModelError {
      throw error
    } catch {
      throw InputError("'\(path)' is not a file of forms: \(error)")
    }
    guard format == "kelvin-forms", version == 1 else {
      throw InputError("'\(path)' has the format '\(format)' \(version), expected 'kelvin-forms' 1")
    }
  }

  /// Returns the forms of a model's weights. A weight that the file does not name keeps its form.
  func forms(for compressor: ModelCompressor, in path: String) throws -> [WeightForm] {
    let names = Set(compressor.weights.map(\.name))
    if let unknown = forms.keys.sorted().first(where: { !names.contains($0) }) {
      throw InputError(
        "'\(path)': the model has no weight '\(unknown)' of at least \(ModelCompressor.leastCount) elements")
    }
    return try compressor.weights.map { weight in
      guard let name = forms[weight.name] else { return .original }
      guard let form = WeightForm(name) else {
        throw InputError(
          "'\(path)': '\(weight.name)' has the form '\(name)', expected one such as palette-6, int8 or original")
      }
      return form
    }
  }
}
