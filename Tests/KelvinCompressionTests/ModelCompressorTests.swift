import FoundationEssentials
import Kelvin
import KelvinCompression
import KelvinGraph
import KelvinReference
import TestSupport
import Testing

/// Copies of models with smaller weights.
@Suite struct ModelCompressorTests {
  private static let digits = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage")
  private static let images = ["0_0030.png", "9_0125.png", "7_0043.png", "1_0011.png"].map {
    URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/\($0)")
  }
  private let folder = TemporaryFolder()

  private static var configuration: ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return configuration
  }

  private func url(_ name: String) -> URL { URL(filePath: "\(folder.path)/\(name)") }

  /// Returns the probabilities of the digits in each image.
  private static func probabilities(_ model: Model) throws -> [[ClassLabel: Double]] {
    let name = try #require(model.modelDescription.predictedProbabilitiesName)
    return try images.map { image in
      let input = ["image": try FeatureValue(imageAt: image, cropAndScale: .centerCrop)]
      return try #require(model.prediction(from: input)[name]?.dictionaryValue)
    }
  }

  /// One form of each kind.
  private static let forms =
    WeightForm.smaller
    + [
      "palette-3", "palette-4-group-16", "int4-block-32", "palette-4-scaled", "palette-8-vector-2",
      "palette-6-vector-4", "int4", "int8-block-16", "prune-50", "prune-2:4",
      "prune-50+palette-4", "prune-30+int8", "prune-1:2+int4",
    ].compactMap { WeightForm($0) }

  @Test(arguments: forms) func copyIsSmallerAndClose(form: WeightForm) throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    let forms = compressor.weights.map { _ in form }
    let byteCount = try compressor.write(forms, to: url("copy.mlpackage"))
    #expect(byteCount == (try compressor.byteCount(forms)) && byteCount < compressor.byteCount)
    let copy = try Model(contentsOf: url("copy.mlpackage"), configuration: Self.configuration)
    let original = try Model(contentsOf: Self.digits, configuration: Self.configuration)
    let (before, after) = (try Self.probabilities(original), try Self.probabilities(copy))
    #expect(before != after)
    let specification = Array(TemporaryFolder.read("\(folder.path)/copy.mlpackage/Data/com.apple.CoreML/model.mlmodel"))
    #expect(specification.starts(with: [8, form.system == 16 ? 7 : 9]))
    // 8 bits hardly change anything.
    guard ["int8", "palette-8", "int8-block-16"].contains(form.description) else { return }
    for (first, second) in zip(before, after) {
      for (label, share) in first { #expect(abs(share - (second[label] ?? 2)) < 0.02) }
    }
  }

  @Test func originalFormGivesEqualNumbers() throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    try compressor.write(compressor.weights.map { _ in .original }, to: url("copy.mlpackage"))
    let copy = try Model(contentsOf: url("copy.mlpackage"), configuration: Self.configuration)
    let original = try Model(contentsOf: Self.digits, configuration: Self.configuration)
    #expect(try Self.probabilities(copy) == Self.probabilities(original))
  }

  @Test func moreBitsHaveLesserErrors() throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    #expect(compressor.weights.count > 3 && compressor.weights.allSatisfy { $0.count >= ModelCompressor.leastCount })
    for index in compressor.weights.indices {
      let forms: [WeightForm] = [1, 2, 4, 6, 8].map(WeightForm.palette)
      let codings = compressor.codings(of: index, in: forms).compactMap { $0 }
      #expect(codings.count == 5)
      for (fewer, more) in zip(codings, codings.dropFirst()) {
        #expect(fewer.relativeError > more.relativeError && fewer.byteCount < more.byteCount)
      }
      let integers = compressor.codings(of: index, in: [.int8, .original])
      #expect((integers[0]?.relativeError ?? 1) < 1e-3 && integers[1]?.relativeError == 0)
    }
  }

  /// The weights that a copy stores are as far from the original's as the codings say.
  @Test(arguments: forms) func errorIsThatOfTheCopy(form: WeightForm) throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    let forms = compressor.weights.map { _ in form }
    try compressor.write(forms, to: url("copy.mlpackage"))
    let (before, after) = (try weights(Self.digits), try weights(url("copy.mlpackage")))
    for (index, weight) in compressor.weights.enumerated() {
      let coding = compressor.codings(of: index, in: [form])[0]
      let (first, second) = (try #require(before[weight.name]), try #require(after[weight.name]))
      #expect(first.count == weight.count && second.count == weight.count)
      let squares = first.reduce(0) { $0 + $1 * $1 }
      let error = zip(first, second).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } / squares
      let stated = coding?.relativeError ?? 0
      // Products of a scale are rounded to the weight's type.
      #expect(abs(error - stated) <= 1e-3 * stated + 1e-6, "\(weight.name): \(error), \(stated)")
      #expect(coding == nil || stated > 0)
    }
  }

  /// Returns the numbers of a model's weights, by name.
  private func weights(_ url: URL) throws -> [String: [Double]] {
    let program = try ReadModel(contentsOf: url).program
    let function = try #require(program.functions[program.defaultFunction])
    var found: [String: [Double]] = [:]
    for graph in try function.builtGraphs(shapes: [:], evaluator: ReferenceEvaluator()).compactMap(\.graph) {
      for value in graph.values { found[value.name] = value.weight?.dense().doubles }
    }
    return found
  }

  @Test func namesGiveTheirForms() {
    for form in Self.forms + [.original, .float16] { #expect(WeightForm(form.description) == form) }
    for name in [
      "", "palette", "palette-5", "palette-04", "palette-4-group-0", "palette-4-group-16-scaled", "palette-4-vector-3",
      "int8-block-1", "int2", "prune-0", "prune-100", "prune-4:4", "prune-1:65", "prune-50+palette-4-scaled",
      "prune-50+original", "prune-50+int8-block-4", "palette-4+prune-50", "original-1", "prune-50+prune-50", "int8-",
    ] {
      #expect(WeightForm(name) == nil, "\(name)")
    }
  }

  @Test func searchStaysWithinTheBudgetAndSparesWhatMatters() async throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    let samples = try Self.images.map {
      CompressionSearch.Sample(
        DictionaryFeatureProvider(dictionary: ["image": try FeatureValue(imageAt: $0, cropAndScale: .centerCrop)]))
    }
    let search = try await CompressionSearch(compressor, samples: samples, configuration: Self.configuration)
    let options = try await search.options()
    let uniform = compressor.weights.map { _ in WeightForm.palette(bits: 4) }
    let larger = compressor.weights.map { _ in WeightForm.palette(bits: 6) }
    let budget = try (compressor.byteCount(uniform) + compressor.byteCount(larger)) / 2
    let found = try #require(try CompressionSearch.forms(of: compressor, options, budget: budget))
    let (mixed, plain) = (try await search.outcome(found), try await search.outcome(uniform))
    #expect(mixed.byteCount <= budget && Set(found).count > 1)
    #expect(mixed.change <= plain.change)
    #expect(try CompressionSearch.forms(of: compressor, options, budget: 1000) == nil)
  }

  @Test func searchTriesTheFormsOfTheModelsFormat() async throws {
    let path = "\(SharedFiles.projectRoot)/Examples/Digits/Digits.onnx"
    let compressor = try ModelCompressor(contentsOf: URL(filePath: path))
    let options = CompressionSearch.options(of: compressor)
    let budget = compressor.byteCount / 2
    let found = try #require(try CompressionSearch.forms(of: compressor, options, budget: budget))
    #expect(Set(found).isSubset(of: [.int8, .float16, .original]) && found.contains(.int8))
    #expect(try compressor.byteCount(found) <= budget)
  }

  @Test func existingCopyIsKept() throws {
    let compressor = try ModelCompressor(contentsOf: Self.digits)
    folder.write(Array("mine".utf8), "copy.mlpackage")
    let error = #expect(throws: ModelError.self) {
      try compressor.write(compressor.weights.map { _ in .int8 }, to: url("copy.mlpackage"))
    }
    #expect(error?.code == .io && error?.description.contains("copy.mlpackage") == true)
    #expect(TemporaryFolder.read("\(folder.path)/copy.mlpackage") == Array("mine".utf8))
    #expect(throws: ModelError.self) {
      try compressor.write(compressor.weights.map { _ in .int8 }, to: url("absent/copy.mlpackage"))
    }
  }

  @Test(arguments: ["Tests/Vectors/Custom/chain.mlmodel"])
  func otherModelsAreRefused(path: String) {
    let error = #expect(throws: ModelError.self) {
      try ModelCompressor(contentsOf: URL(filePath: "\(SharedFiles.projectRoot)/\(path)"))
    }
    #expect(error?.code == .unsupported && error?.description.contains("ML Program") == true)
  }

  /// A package whose weight file is cut short or overwritten, at every 64th byte of its first records.
  @Test func damagedWeightsAreErrors() throws {
    let source = "\(Self.digits.path)/Data/com.apple.CoreML"
    let model = TemporaryFolder.read("\(source)/model.mlmodel")
    let weights = TemporaryFolder.read("\(source)/weights/weight.bin")
    let manifest = TemporaryFolder.read("\(Self.digits.path)/Manifest.json")
    #expect(weights.count > 4096)
    for place in stride(from: 0, through: 4096, by: 64) {
      for damaged in [Array(weights.prefix(place)), weights.prefix(place) + [0xFF] + weights.dropFirst(place + 1)] {
        folder.write(manifest, "bad.mlpackage/Manifest.json")
        folder.write(model, "bad.mlpackage/Data/com.apple.CoreML/model.mlmodel")
        folder.write(damaged, "bad.mlpackage/Data/com.apple.CoreML/weights/weight.bin")
        do throws(ModelError) {
          let compressor = try ModelCompressor(contentsOf: url("bad.mlpackage"))
          _ = try compressor.byteCount(compressor.weights.map { _ in .palette(bits: 2) })
        } catch {
          #expect(error.code == .io, "\(place): \(error)")
        }
      }
    }
  }
}
