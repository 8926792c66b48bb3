import FoundationEssentials
import Kelvin
import TestSupport
import Testing

/// The memory of the first prediction of a model with large weights.
@Suite struct StartMemoryTests {
  private static let (count, width) = (16, 1024)

  private static func predict(_ path: String, width: Int, cache: String?) throws -> [Float] {
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = cache != nil
    if let cache { configuration.cacheDirectory = URL(filePath: cache) }
    let model = try Model(contentsOf: URL(filePath: path), configuration: configuration)
    let array = try MultiArray((0..<2 * width).map { Float($0 % 23) / 23 - 0.5 }, shape: [2, width])
    let outputs = try model.prediction(
      from: DictionaryFeatureProvider(dictionary: ["x": FeatureValue(multiArray: array)]))
    return outputs.featureValue(for: "y")?.multiArrayValue?.floats ?? []
  }

  /// Each weight has its transposition in the file, and is packed. Of the three, one is in memory at a time.
  @Test(.disabled(if: Sanitizer.current == .address, "freed memory stays resident"), arguments: [false, true])
  func weightsAreInMemoryOnce(usesCache: Bool) async {
    let folder = TemporaryFolder()
    let path = folder.write(ProductChain.model(count: Self.count, width: Self.width), "large.onnx")
    let cache = usesCache ? "\(folder.path)/cache" : ""
    await #expect(processExitsWith: .success) { [path = path as String, cache = cache as String] in
      typealias Tests = StartMemoryTests
      let process = OwnProcess()
      let cache: String? = cache.isEmpty ? nil : cache
      _ = try Tests.predict(ProductChain.path, width: ProductChain.shape[1], cache: cache)
      let before = process.peakByteCount
      let first = try Tests.predict(path, width: Tests.width, cache: cache)
      let weights = 4 * Tests.count * Tests.width * Tests.width
      let growth = process.peakByteCount - before
      #expect(growth < weights * 3 / 2, "\(growth) bytes for weights of \(weights)")
      #expect(try Tests.predict(path, width: Tests.width, cache: cache) == first)
    }
  }
}
