import KelvinBasics
import KelvinCoreML
import KelvinEngine
import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinPasses
import KelvinReference
import TestSupport
import Testing

/// Tests that measure or use much memory run one at a time.
@Suite(.serialized) enum HeavyTests {}

extension HeavyTests {
  /// Damaged and malicious files end in a graph or in one of our errors, in bounded memory.
  @Suite struct HostileTests {
    private static let digits = "\(Shared.packageRoot)/Examples/Digits"

    @Test func fixturesAreValid() throws {
      let folder = TemporaryFolder()
      for file in [ONNXFile.manifold, .classifier] {
        let path = folder.write(file.bytes, "model.onnx")
        let graph = try readModel(at: path).graph()
        let inputs = graph.types(graph.inputs).map { Tensor($0, rounding: [Double](repeating: 1, count: $0.count)) }
        _ = try run(graph, inputs)
        #expect(settleONNX(file.bytes) == .graph)
      }
      #expect(try readModel(at: PackageFolder().write(folder)).graph().outputs.count == 5)
    }

    @Test func truncatedModelIsRefusedOrRead() {
      let whole = ONNXFile.manifold.bytes
      var graphs = 0
      for length in 0..<whole.count where settleONNX(Array(whole[..<length]), "cut at \(length)") == .graph {
        graphs += 1
      }
      // Cut inside the operator set at its end, the model imports none.
      #expect(graphs == 0)
    }

    @Test func truncatedDigitsModelIsRefused() throws {
      let file = try Bytes(mapping: "\(Self.digits)/Digits.onnx")
      for step in 0..<400 {
        let length = file.count * step / 400
        let ending = settle("cut at \(length)") {
          try readONNX(try #require(file.slice(offset: 0, count: length)), path: "Digits.onnx")
        }
        #expect(ending == .refused)
      }
    }

    @Test(arguments: [(0, Tier.trials(300, of: 3000)), (1, Tier.trials(100, of: 600))] as [(UInt64, Int)])
    func aDamagedONNXModelIsRefusedOrRead(fixture: UInt64, count: Int) async {
      await #expect(processExitsWith: .success) { [fixture, count] in
        let original = fixture == 0 ? ONNXFile.manifold.bytes : ONNXFile.classifier.bytes
        var watch = MemoryWatch()
        var endings: [Ending: Int] = [:]
        for seed in 0..<UInt64(count) {
          var generator = SeededGenerator(seed: seed << 8 | fixture)
          let bytes = mutate(original, &generator)
          if let ending = settleONNX(bytes, "fixture \(fixture), seed \(seed)") { endings[ending, default: 0] += 1 }
          if seed % 16 == 0 { watch.look() }
        }
        #expect(watch.isBounded)
        #expect(endings[.graph] ?? 0 > 0 && endings[.refused] ?? 0 > 0)
      }
    }

    @Test func aDamagedPackageIsRefusedOrRead() async {
      await #expect(processExitsWith: .success) {
        let folder = TemporaryFolder()
        let package = PackageFolder().write(folder)
        let model = try readFile("\(package)/Data/com.apple.CoreML/model.mlmodel")
        var watch = MemoryWatch()
        func settles(_ bytes: [UInt8], _ what: @autoclosure () -> String) -> Ending? {
          settle(what()) {
            try readCoreML(Bytes(bytes), path: package, folder: "\(package)/Data/com.apple.CoreML", files: [])
          }
        }
        for length in stride(from: 0, to: model.count, by: 3) {
          #expect(settles(Array(model[..<length]), "cut at \(length)") != nil)
        }
        var graphs = 0
        for seed in Tier.seeds(UInt64(300), of: 3000) {
          var generator = SeededGenerator(seed: seed)
          if settles(mutate(model, &generator), "seed \(seed)") == .graph { graphs += 1 }
          if seed % 16 == 0 { watch.look() }
        }
        #expect(graphs > 0)
        #expect(watch.isBounded)
      }
    }

    @Test func aDamagedDigitsModelIsRefusedOrRead() async {
      await #expect(processExitsWith: .success) {
        let onnx = try readFile("\(HostileTests.digits)/Digits.onnx")
        let folder = "\(HostileTests.digits)/Digits.mlpackage/Data/com.apple.CoreML"
        let program = try readFile("\(folder)/model.mlmodel")
        var watch = MemoryWatch()
        for seed in Tier.seeds(UInt64(15), of: 150) {
          var generator = SeededGenerator(seed: seed)
          let damaged = mutate(onnx, &generator)
          _ = settleONNX(damaged, "ONNX, seed \(seed)")
          let bytes = mutate(program, &generator)
          _ = settle("program, seed \(seed)") { try readCoreML(Bytes(bytes), path: "m", folder: folder, files: []) }
          if seed % 16 == 0 { watch.look() }
        }
        #expect(watch.isBounded)
      }
    }

    @Test func aDamagedWeightFileIsRefusedOrRead() throws {
      let folder = TemporaryFolder()
      for seed in Tier.seeds(UInt64(200), of: 2000) {
        var generator = SeededGenerator(seed: seed)
        var package = PackageFolder()
        package.weights = mutate(MILFile.manifold.blobs.bytes, &generator)
        let path = package.write(folder)
        #expect(settle("seed \(seed)") { try readModel(at: path) } != nil)
      }
    }

    @Test func aDamagedArrayIsRefusedOrRead() throws {
      let array = NPY.write(Tensor([1, 2, 3, 4, 5, 6] as [Float], [2, 3]))
      for length in 0..<array.count {
        #expect(throws: FormatError.self) { try NPY.read(Bytes(Array(array[..<length])), name: "a") }
      }
      var read = 0
      for seed in Tier.seeds(UInt64(300), of: 3000) {
        var generator = SeededGenerator(seed: seed)
        do {
          _ = try NPY.read(Bytes(mutate(array, &generator)), name: "seed \(seed)").doubles
          read += 1
        } catch {}
      }
      #expect(read > 0)
    }
  }
}

func readFile(_ path: String) throws -> [UInt8] { try Bytes(mapping: path).withUnsafeBytes { Array($0) } }
