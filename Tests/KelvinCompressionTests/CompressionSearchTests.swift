import FoundationEssentials
import Kelvin
import KelvinCompression
import TestSupport
import Testing

/// The choice of copies by loss and time, and what a page says about them.
@Suite struct CompressionSearchTests {
  private static let digits = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/Digits.mlpackage")

  private static func search(measure: CompressionMeasure? = nil) async throws -> CompressionSearch {
    let samples = try [("0_0030", "zero"), ("9_0125", "nine"), ("7_0043", "seven"), ("1_0011", "one")].map {
      let image = URL(filePath: "\(SharedFiles.projectRoot)/Examples/Digits/images/\($0).png")
      let value = try FeatureValue(imageAt: image, cropAndScale: .centerCrop)
      return CompressionSearch.Sample(DictionaryFeatureProvider(dictionary: ["image": value]), label: $1)
    }
    var configuration = ModelConfiguration(computeUnits: .cpuOnly)
    configuration.usesCache = false
    return try await CompressionSearch(
      ModelCompressor(contentsOf: digits), samples: samples, configuration: configuration, measure: measure)
  }

  private static func uniform(_ search: CompressionSearch, _ form: WeightForm) -> [WeightForm] {
    search.compressor.weights.map { _ in form }
  }

  @Test func copiesThatLoseTooMuchAreNotTaken() async throws {
    let search = try await Self.search()
    let (close, coarse) = (Self.uniform(search, .int8), Self.uniform(search, .palette(bits: 1)))
    #expect(try await search.outcome(close).loss == 0)
    #expect(try await search.outcome(coarse).loss > 10)
    #expect(try await search.fastest(close, [coarse], maxLoss: 10) == close)
    #expect(try await search.fastest(close, [coarse]) == close)
  }

  /// Costs that are wrong mislead the sum of costs, and not the measured change.
  @Test func noCopyWithOneFormIsBetter() async throws {
    let search = try await Self.search()
    let forms: [WeightForm] = [.palette(bits: 1), .palette(bits: 2), .palette(bits: 4)]
    let uniform = Self.uniform(search, .palette(bits: 4))
    let budget = try search.compressor.byteCount(uniform)
    let wrong = CompressionSearch.options(of: search.compressor, forms).map { list in
      list.map { CompressionChoice.Option(byteCount: $0.byteCount, cost: Double($0.byteCount)) }
    }
    let misled = try #require(try CompressionSearch.forms(of: search.compressor, wrong, in: forms, budget: budget))
    #expect(misled == Self.uniform(search, .palette(bits: 1)))
    #expect(try await search.best(wrong, in: forms, budget: budget) == uniform)
    #expect(try await search.best(wrong, in: forms, budget: 1000) == nil)
  }

  @Test func otherCopiesHaveOneKindOfFormAndTheSize() async throws {
    let search = try await Self.search()
    let options = CompressionSearch.options(of: search.compressor)
    let (forms, budget) = (search.compressor.candidates(system: 16), search.compressor.byteCount * 6 / 10)
    let others = try search.alternatives(options, in: forms, budget: budget)
    #expect(others.count > 3 && Set(others).count == others.count)
    for other in others {
      #expect(try search.compressor.byteCount(other) <= budget)
      let used = Set(other).subtracting([.original, .int8])
      #expect(used.isEmpty || !other.contains(.int8), "integers and palettes are not mixed")
    }
    #expect(others.contains { Set($0).subtracting([.original]) == [.palette(bits: 4)] })
  }

  /// The measure's figures decide the loss, and not the cosine of the outputs.
  @Test func lossIsThatOfTheMeasure() async throws {
    let measure = CompressionMeasure(name: "Figure", isAgreement: false) { original, copy in
      CompressionMeasure.Comparison(
        copy: original === copy ? 0.75 : 0.5, original: 0.75, difference: -0.3 ... -0.2, count: 4)
    }
    let samples = try await Self.search()
    let search = try await Self.search(measure: measure)
    let outcome = try await search.outcome(Self.uniform(search, .int8))
    #expect(outcome.measure?.loss == 25 && outcome.measure?.hasTooFewSamples == true)
    #expect(try await search.originalOutcome().measure?.loss == 0)
    #expect(try await samples.outcome(Self.uniform(samples, .int8)).measure == nil)
  }

  @Test func pageSaysThatASmallerCopyIsSlower() async throws {
    let search = try await Self.search()
    let (original, copy) = (try await search.originalOutcome(), try await search.outcome(Self.uniform(search, .int8)))
    func page(_ seconds: Double) -> String {
      CompressionPage(
        title: "Digits", weights: search.compressor.weights, original: original, copies: [copy], chosen: 0,
        costs: [
          CopyCost(
            name: "original", byteCount: 200, devices: [.init(device: "cpu", seconds: 0.001, peakMemory: 1 << 20)]),
          CopyCost(name: "copy", byteCount: 100, devices: [.init(device: "cpu", seconds: seconds, peakMemory: nil)]),
        ]
      ).html()
    }
    #expect(page(0.002).contains("copy is smaller than the original, but slower on cpu"))
    #expect(!page(0.001).contains("slower on cpu"))
  }
}
