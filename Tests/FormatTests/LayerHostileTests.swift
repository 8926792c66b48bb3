import FoundationEssentials
import KelvinBasics
import KelvinCoreML
import KelvinGraph
import KelvinImport
import TestSupport
import Testing

extension HeavyTests {
  /// Damaged networks, pipelines and classical models end in a graph or in one of our errors, in bounded memory.
  @Suite struct LayerHostileTests {
    /// Small models of every layer and stage: the vectors of the layers, pipelines of several parts, classical models and
    /// a detector.
    private static let fixtures: [(name: String, bytes: [UInt8])] = {
      let tests = "\(Shared.packageRoot)/Tests"
      let layers = ["Layers", "Parts", "Classical"].flatMap { folder in
        ((try? FileManager.default.contentsOfDirectory(atPath: "\(tests)/Vectors/\(folder)")) ?? []).sorted()
          .filter { $0.hasSuffix(".mlmodel") }.map { "\(tests)/Vectors/\(folder)/\($0)" }
      }
      return (layers + ["\(tests)/Vision/detector.mlmodel"]).compactMap { path in
        (try? readFile(path)).map { (path, $0) }
      }
    }()

    private static func ending(of bytes: [UInt8], _ what: @autoclosure () -> String) -> Ending? {
      settle(what()) { try readCoreML(Bytes(bytes), path: "model.mlmodel", folder: "/nonexistent", files: []) }
    }

    @Test func everyFixtureIsValid() {
      #expect(Self.fixtures.count > 150)
      for (name, bytes) in Self.fixtures { #expect(Self.ending(of: bytes, name) == .graph, "\(name)") }
    }

    @Test func truncatedModelIsRefusedOrRead() {
      for (name, bytes) in Self.fixtures {
        for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 12)) {
          #expect(Self.ending(of: Array(bytes[..<length]), "\(name) cut at \(length)") != nil)
        }
      }
    }

    @Test func aDamagedModelIsRefusedOrRead() async {
      await #expect(processExitsWith: .success) {
        var watch = MemoryWatch()
        var endings: [Ending: Int] = [:]
        for seed in Tier.seeds(UInt64(400), of: 4000) {
          let (name, bytes) = LayerHostileTests.fixtures[Int(seed) % LayerHostileTests.fixtures.count]
          var generator = SeededGenerator(seed: seed)
          if let ending = LayerHostileTests.ending(of: mutate(bytes, &generator), "\(name), seed \(seed)") {
            endings[ending, default: 0] += 1
          }
          if seed % 16 == 0 { watch.look() }
        }
        #expect(watch.isBounded)
        #expect(endings[.graph] ?? 0 > 0 && endings[.refused] ?? 0 > 0)
      }
    }
  }
}
