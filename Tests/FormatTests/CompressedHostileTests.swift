import KelvinBasics
import KelvinCoreML
import KelvinGraph
import KelvinImport
import KelvinReference
import TestSupport
import Testing

extension HeavyTests {
  /// Damaged programs of compressed weights: whatever is accepted expands without a trap, in bounded memory.
  @Suite struct CompressedHostileTests {
    @Test(arguments: Tier.some(1, of: ["constexpr_ios18", "constexpr_ios16", "joint_all"]))
    func aDamagedProgramIsRefusedOrExpands(name: String) async {
      await #expect(processExitsWith: .success) { [name] in
        let folder = "\(Shared.packageRoot)/Tests/CompressedWeights/\(name).mlpackage/Data/com.apple.CoreML"
        let program = try readFile("\(folder)/model.mlmodel")
        var watch = MemoryWatch()
        var (graphs, expanded) = (0, 0)
        for seed in 0..<UInt64(300) {
          var generator = SeededGenerator(seed: seed)
          let bytes = mutate(program, &generator)
          let ending = settle("\(name), seed \(seed)") {
            let model = try readCoreML(Bytes(bytes), path: "m", folder: folder, files: [])
            for function in model.functions.values {
              let graph = try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
              for value in graph.values {
                guard let weight = value.weight, weight.isCompressed else { continue }
                #expect(weight.dense().type == weight.type)
                expanded += 1
              }
            }
            return model
          }
          if ending == .graph { graphs += 1 }
          if seed % 16 == 0 { watch.look() }
        }
        #expect(graphs > 0 && expanded > graphs)
        #expect(watch.isBounded)
      }
    }
  }
}
