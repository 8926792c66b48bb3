import FoundationEssentials
import Glibc
import Kelvin
import KelvinEngine
import KelvinGraph
import TestSupport
import Testing

/// Models whose files change under a program that has loaded them.
@Suite struct ChangedModelTests {
  private final class Copy {
    let folder = TemporaryFolder()
    let path: String
    var cache: String { folder.path + "/cache" }

    init(_ original: String = ModelFixture.digits) { path = folder.copy(original, as: "m.onnx") }

    var byteCount: Int {
      var status = stat()
      return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Changes one byte in place, and puts the time of the last change back.
    static func flip(_ path: String, at place: Int) {
      var status = stat()
      var byte: UInt8 = 0
      let file = open(path, O_RDWR)
      defer { close(file) }
      #expect(fstat(file, &status) == 0 && pread(file, &byte, 1, place) == 1)
      byte ^= 0x40
      #expect(pwrite(file, &byte, 1, place) == 1 && futimens(file, [status.st_atim, status.st_mtim]) == 0)
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
          let image = try? PixelBuffer(
            width: constraint.pixelsWide, height: constraint.pixelsHigh, format: .gray8, bytes: bytes)
        else { continue }
        values[name] = FeatureValue(image: image)
      } else if let shape = description.multiArrayConstraint?.shape {
        values[name] = FeatureValue(
          multiArray: MultiArray(Tensor([Float](repeating: 0.5, count: shape.reduce(1, *)), Shape(shape))))
      }
    }
    let result = try model.prediction(from: DictionaryFeatureProvider(dictionary: values))
    return result.featureNames.sorted().flatMap { result.featureValue(for: $0)?.multiArrayValue?.tensor.floats ?? [] }
  }

  @Test(arguments: [0.0, 0.3, 0.9, 0.999])
  func truncatedModelGivesNoResult(share: Double) throws {
    let copy = Copy()
    let model = try Model(contentsOf: URL(filePath: copy.path), configuration: configuration())
    let other = try Model(contentsOf: URL(filePath: ModelFixture.digits), configuration: configuration())
    let answer = try predict(model)
    #expect(truncate(copy.path, Int(Double(copy.byteCount) * share)) == 0)
    let error = #expect(throws: ModelError.self) { try predict(model) }
    #expect(error?.code == .io && error?.description.contains(copy.path) == true, "\(String(describing: error))")
    #expect(try predict(other) == answer)
  }

  @Test func modelChangedBeforeCompilingIsNotCached() throws {
    let copy = Copy()
    let cache = copy.cache
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

  @Test(arguments: [false, true]) func touchedModelStaysUsable(isCached: Bool) throws {
    let copy = Copy()
    let model = try Model(
      contentsOf: URL(filePath: copy.path), configuration: configuration(cache: isCached ? copy.cache : nil))
    let answer = try predict(model)
    let ways: [() -> Int32] = [
      { utimensat(AT_FDCWD, copy.path, nil, 0) }, { chmod(copy.path, 0o600) },
      { rename(copy.folder.copy(ModelFixture.digits, as: "new"), copy.path) },
    ]
    for (index, touch) in ways.enumerated() {
      if index == 2 {
        // While it still has its name: what is changed is found, and what is changed back.
        Copy.flip(copy.path, at: copy.byteCount / 2)
        let error = #expect(throws: ModelError.self) { try predict(model) }
        #expect(error?.code == .io && error?.description.contains("it was written to") == true)
        Copy.flip(copy.path, at: copy.byteCount / 2)
      }
      #expect(touch() == 0, "\(index)")
      #expect(try predict(model) == answer, "\(index)")
    }
  }

  /// The packed weights of a loaded model, cut short, rewritten, or touched.
  @Test func changedPackGivesNoResult() throws {
    let copy = Copy()
    let settings = configuration(cache: copy.cache)
    func load() throws -> Model { try Model(contentsOf: URL(filePath: copy.path), configuration: settings) }
    let answer = try predict(load())
    let pack = try #require(TemporaryFolder.files(copy.cache).first { $0.hasSuffix(".pack") })
    let whole = TemporaryFolder.read(pack)
    let changes: [(String, Bool, () -> Int32)] = [
      ("touched", true, { utimensat(AT_FDCWD, pack, nil, 0) }),
      ("replaced", true, { rename(copy.folder.write(whole, "cache/other"), pack) }),
      ("cut short", false, { truncate(pack, off_t(whole.count / 2)) }),
      ("emptied", false, { truncate(pack, 0) }),
      (
        "rewritten", false,
        {
          Copy.flip(pack, at: whole.count / 2)
          return 0
        }
      ),
      (
        "of zeros", false,
        {
          truncate(pack, 0)
          return truncate(pack, off_t(whole.count))
        }
      ),
    ]
    for (name, isGood, change) in changes {
      try Data(whole).write(to: URL(filePath: pack))
      let model = try load()
      #expect(model.remarks.isEmpty, "\(name): \(model.remarks)")
      #expect(try predict(model) == answer, "\(name)")
      #expect(change() == 0, "\(name)")
      for _ in 0..<2 {
        if isGood {
          #expect(try predict(model) == answer, "\(name)")
        } else {
          let error = #expect(throws: ModelError.self) { try predict(model) }
          #expect(error?.code == .io && error?.description.contains(pack) == true, "\(name)")
        }
      }
      // After a reload it is made again.
      #expect(try predict(load()) == answer, "\(name)")
    }
  }
}
