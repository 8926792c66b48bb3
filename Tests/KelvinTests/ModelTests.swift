import FoundationEssentials
import Kelvin
import KelvinVision
import TestSupport
import Testing

/// The public API, on the embedded model.
@Suite struct ModelTests {
  private let package = URL(filePath: ModelFixture.digitsPackage)
  private let images = "\(SharedFiles.projectRoot)/Examples/Digits/images"

  private func configuration(_ units: ComputeUnits = .cpuOnly) -> ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: units)
    configuration.usesCache = false
    return configuration
  }

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: images).filter {
        $0.hasSuffix(".png") || $0.hasSuffix(".jpg")
      }.sorted()
    }
  }

  @Test func everyEmbeddedImageIsClassifiedCorrectly() async throws {
    let words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    let model = try await Model.load(contentsOf: package, configuration: configuration())
    var request = CoreMLRequest(model: try CoreMLModelContainer(model: model))
    request.cropAndScaleAction = .centerCrop
    #expect(try files.count >= 30)
    for file in try files {
      let observations = try await ImageRequestHandler(URL(filePath: "\(images)/\(file)")).perform(request)
      let best = try #require(observations.first as? ClassificationObservation)
      let digit = try #require(Int(file.prefix(1)))
      #expect(best.identifier == words[digit], "\(file)")
    }
  }

  @Test func descriptionListsInputsAndOutputs() throws {
    let model = try Model(contentsOf: package, configuration: configuration())
    let description = model.modelDescription
    #expect(description.inputNames == ["image"])
    #expect(description.inputDescriptionsByName["image"]?.type == .image)
    #expect(description.inputDescriptionsByName["image"]?.imageConstraint?.pixelsWide == 64)
    #expect(description.predictedFeatureName == "classLabel")
    #expect(description.predictedProbabilitiesName == "classLabel_probs")
    #expect(description.classLabels.count == 10)
    #expect(description.metadata[.license]?.isEmpty == false)
  }

  @Test func invalidInputsAreNamed() throws {
    let model = try Model(contentsOf: package, configuration: configuration())
    func message(_ features: [String: FeatureValue]) -> String {
      let provider = DictionaryFeatureProvider(dictionary: features)
      let error = #expect(throws: ModelError.self) { try model.prediction(from: provider) }
      #expect(error?.code == .featureType)
      return error?.description ?? ""
    }
    #expect(message([:]).contains("'image'"))
    #expect(message(["photo": FeatureValue(double: 1)]).contains("'photo'"))
    #expect(message(["image": FeatureValue(double: 1)]).contains("expected image"))
  }

  @Test func concurrentPredictionsAgree() async throws {
    let model = try await Model.load(contentsOf: package, configuration: configuration())
    let file = "\(images)/\(try files[0])"
    let input = DictionaryFeatureProvider(dictionary: ["image": try FeatureValue(imageAt: URL(filePath: file))])
    let expected = try await model.prediction(from: input)
    try await withThrowingTaskGroup(of: DictionaryFeatureProvider.self) { group in
      for _ in 0..<24 { group.addTask { try await model.prediction(from: input) } }
      for try await outputs in group { #expect(outputs == expected) }
    }
  }

  @Test func loadingIsCancelledWithItsTask() async throws {
    let (package, configuration) = (package, configuration())
    let task = Task { () throws -> Model in
      try await Model.load(contentsOf: package, configuration: configuration)
    }
    task.cancel()
    // The work was cancelled or complete, and nothing else.
    do { _ = try await task.value } catch let error as ModelError { #expect(error.code == .predictionCancelled) }
  }

  @Test func loadingReportsItsProgress() throws {
    let seen = Progress()
    _ = try Model(contentsOf: package, configuration: configuration(), progress: { seen.append($0) })
    #expect(seen.values.count > 20, "every layer counts")
    #expect(seen.values.first == 0)
    #expect(seen.values.last == 1)
    #expect(seen.values == seen.values.sorted())
  }

  @Test func computePlanUsesTheModelNames() async throws {
    let plan = try await ComputePlan.load(contentsOf: package, configuration: configuration())
    guard case .program(let program) = plan.modelStructure else {
      Issue.record("an ML Program has a program's structure")
      return
    }
    let operations = try #require(program.functions["main"]).block.operations
    let convolutions = operations.filter { $0.operatorName.hasSuffix("conv") }
    #expect(!convolutions.isEmpty)
    for convolution in convolutions {
      #expect(plan.deviceUsage(for: convolution)?.preferred.identifier == "cpu", "\(convolution.name)")
      #expect(plan.estimatedCost(of: convolution)?.weight ?? 0 > 0, "\(convolution.name)")
      #expect(convolution.arguments.contains { $0.name == "weight" && $0.values.count == 1 }, "\(convolution.name)")
      #expect(convolution.arguments.flatMap { $0.values.compactMap { $0 } } == convolution.inputs)
    }
    let input = try #require(program.functions["main"]?.inputs.first)
    #expect(input.name == "image" && input.type.description == "float32 1x3x64x64", "\(input.type)")
    let made = try #require(convolutions[0].outputs.first?.type)
    #expect(made.dataType == .float16 && made.shape.count == 4 && made.shape[0] == 1 && !made.isState, "\(made)")
    let weights = operations.compactMap { plan.estimatedCost(of: $0)?.weight }.reduce(0, +)
    #expect(abs(weights - 1) < 1e-6)
    let constant = try #require(operations.first { $0.operatorName == "const" })
    #expect(plan.estimatedCost(of: constant) == nil)
  }

  @Test func unknownDevicesAreNamed() throws {
    let error = #expect(throws: ModelError.self) {
      try Model(contentsOf: package, configuration: configuration(.devices(["cuda:0"])))
    }
    #expect(error?.code == .device)
    #expect(error?.description.contains("cuda:0") == true)
  }
}

private final class Progress: @unchecked Sendable {
  private(set) var values: [Double] = []
  func append(_ value: Double) { values.append(value) }
}
