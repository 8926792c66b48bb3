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
      changes the outputs, and runs the copy on all samples. They are labelled images as for 'evaluate', other images, \
      or a file .jsonl with a line for each sample: {"input": [[1, 2]]}. Without --data the squared errors of the \
      weights stand for their effect.

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

  @Option(help: ArgumentHelp("Write the form of each weight to this file.", valueName: "file.json"))
  var saveForms: String?

  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var report: ReportOption
  @OptionGroup var output: OutputOptions

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
  }

  func run() throws {
    // A search takes minutes.
    guard access(copy.pathBytes, F_OK) != 0 else {
      throw InputError("'\(copy)' exists; delete it, or name another copy")
    }
    let compressor = try ModelCompressor(
      contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    let search = try data.map { try self.search(compressor, $0) }
    let needsOptions = budget != nil || maxLoss != nil || report.report != nil
    let options = needsOptions ? try self.options(compressor, search) : []
    let chosen = try chosenForms(compressor, search, options)
    let outcome = try search.map { search in
      try Progress.during("measuring") { try Interrupts.cancelling { try await search.outcome(chosen) } }
    }
    let byteCount = try compressor.write(chosen, to: URL(filePath: copy))
    let result = CompressionReport(compressor, chosen, byteCount: byteCount, outcome, try search?.originalOutcome())
    if let saveForms { try LocalFile.write(Array(try jsonText(FormFile(compressor, chosen)).utf8), to: saveForms) }
    if let path = report.report, let search, let outcome {
      try LocalFile.write(Array(try page(search, options, outcome).html().utf8), to: path)
      Console.note("wrote \(path)")
    }
    if output.json { try printJSON(result) } else { Console.print(result.text(width: Console.width)) }
  }

  private func page(
    _ search: CompressionSearch, _ options: [[CompressionChoice.Option]], _ outcome: CompressionSearch.Outcome
  ) throws -> CompressionPage {
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
      title: model.lastPathPart, weights: search.compressor.weights, original: try search.originalOutcome(),
      copies: copies, chosen: place)
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
      let limit = budget ?? 0
      guard
        let found = try CompressionSearch.forms(
          of: compressor, options, in: compressor.candidates(system: ios), budget: limit)
      else {
        throw InputError(
          "no copy has at most \(HumanReadable.bytes(limit)); the smallest forms take "
            + "\(HumanReadable.bytes(try smallest(compressor, options)))")
      }
      return found
    }
    return try smallestForms(compressor, search, options, maxLoss: maxLoss)
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

  private func search(_ compressor: ModelCompressor, _ path: String) throws -> CompressionSearch {
    let read = try ReadModel(contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    let samples = try CompressionSamples(
      path, for: read, options.function, fitting.cropAndScale ?? .centerCrop
    ).samples
    let configuration = try options.configuration(units: units.units)
    return try Progress.during("running the original") {
      try Interrupts.cancelling {
        try await CompressionSearch(compressor, samples: samples, configuration: configuration)
      }
    }
  }
}

extension CompressionSearch.Outcome {
  /// The loss of right answers in points of a hundred; without known classes, the share of samples with another label.
  var loss: Double {
    if let accuracy { return 100 * Double(accuracy.original - accuracy.copy) / Double(accuracy.count) }
    return 100 * Double(agreement.of - agreement.count) / Double(max(agreement.of, 1))
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
