import FoundationEssentials
import Glibc
import Kelvin
import KelvinEngine
import KelvinGraph
import Testing

/// Models whose files change under a program that has loaded them.
@Suite struct ChangedModelTests {
  private final class Copy {
    let path: String

    init(_ original: String = ModelFixture.digits) throws {
      var template = Array("/tmp/kelvin-changed-XXXXXX".utf8CString)
      guard mkdtemp(&template) != nil else { throw POSIXError(.ENOENT) }
      path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/m.onnx"
      try Data(contentsOf: URL(filePath: original)).write(to: URL(filePath: path))
    }

    deinit {
      unlink(path)
      rmdir(String(path.dropLast("/m.onnx".count)))
    }

    var byteCount: Int {
      var status = stat()
      return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }
  }

  private func configuration(cache: String? = nil) -> ModelConfiguration {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = cache != nil
    configuration.cacheDirectory = cache.map { URL(filePath: $0) }
    return configuration
  }

  private func predict(_ model: Model) throws(ModelError) -> [Float] {
    var values: [String: FeatureValue] = [:]
    for (name, description) in model.modelDescription.inputDescriptionsByName {
      if let constraint = description.imageConstraint {
        let bytes = [UInt8](repeating: 9, count: constraint.pixelsWide * constraint.pixelsHigh)
        guard
          let picture = try? PixelBuffer(
            width: constraint.pixelsWide, height: constraint.pixelsHigh, format: .gray8, bytes: bytes)
        else { continue }
        values[name] = FeatureValue(image: picture)
      } else if let shape = description.multiArrayConstraint?.shape {
        values[name] = FeatureValue(
          multiArray: MultiArray(Tensor([Float](repeating: 0.5, count: shape.reduce(1, *)), Shape(shape))))
      }
    }
    let result = try model.prediction(from: DictionaryFeatureProvider(dictionary: values))
    return result.featureNames.sorted().flatMap { result.featureValue(for: $0)?.multiArrayValue?.tensor.floats ?? [] }
  }

  @Test(arguments: [0.0, 0.3, 0.9, 0.999])
  func noAnswerComesFromAModelThatWasCutShort(share: Double) throws {
    let copy = try Copy()
    let model = try Model(contentsOf: URL(filePath: copy.path), configuration: configuration())
    let other = try Model(contentsOf: URL(filePath: ModelFixture.digits), configuration: configuration())
    let answer = try predict(model)
    #expect(truncate(copy.path, Int(Double(copy.byteCount) * share)) == 0)
    let error = #expect(throws: ModelError.self) { try predict(model) }
    #expect(error?.code == .io && error?.description.contains(copy.path) == true, "\(String(describing: error))")
    #expect(try predict(other) == answer)
  }

  @Test func nothingIsKeptOfAModelThatChangedBeforeItWasCompiled() throws {
    let copy = try Copy()
    let cache = copy.path + ".cache"
    defer { try? FileManager.default.removeItem(at: URL(filePath: cache)) }
    let file = try ReadModel(contentsOf: URL(filePath: copy.path))
    let original = try Data(contentsOf: URL(filePath: copy.path))
    #expect(truncate(copy.path, copy.byteCount / 3) == 0)
    #expect(throws: ModelError.self) { try Model(file, configuration: configuration(cache: cache)) }
    try original.write(to: URL(filePath: copy.path))
    #expect(throws: ModelError.self) { try Model(file, configuration: configuration(cache: cache)) }
    let whole = try Model(contentsOf: URL(filePath: copy.path), configuration: configuration(cache: cache))
    let reference = try Model(contentsOf: URL(filePath: ModelFixture.digits), configuration: configuration())
    #expect(try predict(whole) == predict(reference))
  }
}
