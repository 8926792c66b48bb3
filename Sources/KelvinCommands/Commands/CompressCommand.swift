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

      The model is an ML Program in an .mlpackage, and so is the copy, for iOS 16 or later. A weight is a palette of \
      1, 2, 4, 6 or 8 bits (palette-6), or 8-bit integers with a scale for each channel (int8). Palettes are optimal: \
      no other table has a smaller squared error.

      --budget and --max-loss choose a form for each weight. With --data, labelled images as for 'evaluate', the \
      command measures how much each weight changes the outputs, and runs the copy on all images. Without, the \
      squared errors of the weights stand for their effect.

      Activations are not quantized; ONNX Runtime and coremltools have tools for that.
      """)

  @Argument(help: "An .mlpackage folder with an ML Program.", transform: ModelArgument.path)
  var model: String

  @Argument(help: "The .mlpackage folder to write, which must not exist.")
  var copy: String

  @Option(
    help: ArgumentHelp(
      "One form for all weights: \(WeightForm.smaller.map(\.description).joined(separator: ", ")).",
      valueName: "form"), transform: Self.form)
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

  @Option(help: ArgumentHelp("Labelled images that measure the copy.", valueName: "dataset"))
  var data: String?

  @Option(help: ArgumentHelp("Write the form of each weight to this file.", valueName: "file.json"))
  var saveForms: String?

  @OptionGroup var fitting: CropOption
  @OptionGroup var units: UnitsOption
  @OptionGroup var options: ModelOptions
  @OptionGroup var output: OutputOptions

  private static func form(_ text: String) throws -> WeightForm {
    guard let form = WeightForm(text) else {
      let names = WeightForm.smaller.map(\.description).joined(separator: ", ")
      throw ValidationError("'\(text)' is not a form of weights; use one of \(names)")
    }
    return form
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
    if maxLoss != nil, data == nil { throw ValidationError("--max-loss needs --data, the images that measure it") }
  }

  func run() throws {
    // A search takes minutes.
    guard access(copy.pathBytes, F_OK) != 0 else {
      throw InputError("'\(copy)' exists; delete it, or name another copy")
    }
    let compressor = try ModelCompressor(
      contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks)
    let search = try data.map { try self.search(compressor, $0) }
    let chosen = try chosenForms(compressor, search)
    let outcome = try search.map { search in
      try Progress.during("measuring") { try Interrupts.cancelling { try await search.outcome(chosen) } }
    }
    let byteCount = try compressor.write(chosen, to: URL(filePath: copy))
    let report = CompressionReport(compressor, chosen, byteCount: byteCount, outcome)
    if let saveForms { try LocalFile.write(Array(try jsonText(FormFile(compressor, chosen)).utf8), to: saveForms) }
    if output.json { try printJSON(report) } else { Console.print(report.text(width: Console.width)) }
  }

  private func chosenForms(_ compressor: ModelCompressor, _ search: CompressionSearch?) throws -> [WeightForm] {
    if let form { return compressor.weights.map { _ in form } }
    if let forms { return try FormFile(contentsOf: forms).forms(for: compressor, in: forms) }
    let options = try options(compressor, search)
    guard let search, let maxLoss else {
      let limit = budget ?? 0
      guard let found = try CompressionSearch.forms(of: compressor, options, budget: limit) else {
        throw InputError(
          "no copy has at most \(HumanReadable.bytes(limit)); the smallest forms take "
            + "\(HumanReadable.bytes(try smallest(compressor)))")
      }
      return found
    }
    return try smallestForms(compressor, search, options, maxLoss: maxLoss)
  }

  private func smallest(_ compressor: ModelCompressor) throws -> Int {
    try compressor.byteCount(compressor.weights.map { _ in .palette(bits: 1) })
  }

  private func options(
    _ compressor: ModelCompressor, _ search: CompressionSearch?
  ) throws -> [[CompressionChoice.Option]] {
    let progress = Progress("trying forms")
    defer { progress.finish() }
    guard let search else { return CompressionSearch.options(of: compressor) { progress.update($0) } }
    return try Interrupts.cancelling { try await search.options { progress.update($0) } }
  }

  /// Returns the forms of the smallest copy whose loss is at most a number of points, by halving the range of sizes.
  private func smallestForms(
    _ compressor: ModelCompressor, _ search: CompressionSearch, _ options: [[CompressionChoice.Option]],
    maxLoss: Double
  ) throws -> [WeightForm] {
    let progress = Progress("comparing sizes")
    defer { progress.finish() }
    var (low, high) = (try smallest(compressor), compressor.byteCount)
    var best = compressor.weights.map { _ in WeightForm.original }
    for step in 0..<7 {
      let middle = (low + high) / 2
      progress.update(Double(step) / 7, HumanReadable.bytes(middle))
      guard let forms = try CompressionSearch.forms(of: compressor, options, budget: middle) else {
        low = middle
        continue
      }
      let outcome = try Interrupts.cancelling { try await search.outcome(forms) }
      if outcome.loss <= maxLoss { (best, high) = (forms, middle) } else { low = middle }
    }
    return best
  }

  private func search(_ compressor: ModelCompressor, _ path: String) throws -> CompressionSearch {
    let dataset = try evaluating { () throws(VisionError) in try LabelledImages(contentsOf: URL(filePath: path)) }
    dataset.remarks.forEach(Console.note)
    let description = try ReadModel(
      contentsOf: URL(filePath: model), allowsLinks: options.links.allowLinks
    ).modelDescription(of: options.function)
    let inputs = description.inputNames.filter { description.inputDescriptionsByName[$0]?.type == .image }
    guard inputs.count == 1, description.inputNames.count == 1, !description.classLabels.isEmpty else {
      throw InputError(
        "--data needs a classifier with one input, an image; '\(model.lastPathPart)' has the inputs "
          + description.inputNames.joined(separator: ", "))
    }
    let labels = LabelMatching(dataset.labels, answers: description.classLabels.map { "\($0)" })
    let missing = try evaluating { () throws(VisionError) in try labels.missing(of: model.lastPathPart) }
    if !missing.isEmpty {
      Console.note("\(missing.count) classes of the data set are not among the labels of the model")
    }
    var samples: [CompressionSearch.Sample] = []
    for image in dataset.images {
      do throws(ImageError) {
        let value = try FeatureValue(
          imageAt: URL(filePath: image.path), cropAndScale: fitting.cropAndScale ?? .centerCrop)
        samples.append(
          .init(DictionaryFeatureProvider(dictionary: [inputs[0]: value]), label: labels.answer(for: image.label)))
      } catch { Console.error("'\(image.path)': \(error)") }
    }
    guard !samples.isEmpty else { throw InputError("'\(path)' has no image that can be read") }
    let configuration = try options.configuration(units: units.units)
    let given = samples
    return try Progress.during("running the original") {
      try Interrupts.cancelling {
        try await CompressionSearch(compressor, samples: given, configuration: configuration)
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
        let known = ([.original] + WeightForm.smaller).map(\.description).joined(separator: ", ")
        throw InputError("'\(path)': '\(weight.name)' has the form '\(name)', expected one of \(known)")
      }
      return form
    }
  }
}
