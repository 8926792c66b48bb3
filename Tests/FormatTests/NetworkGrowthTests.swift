import KelvinCoreML
import KelvinGraph
import KelvinImport
import KelvinReference
import TestSupport
import Testing

extension HeavyTests {
  /// The layers after a branch that may leave a loop are on one of its sides. Values that are read there are not
  /// searched again at each branch.
  @Suite struct NetworkGrowthTests {
    /// A network of one loop with two iterations.
    ///
    /// - Parameter breaks: whether each of the sums in it is followed by a branch that may end the loop.
    static func sums(_ count: Int, breaks: Bool) -> [UInt8] {
      func layer(
        _ wire: inout Wire, _ name: String, _ input: String, _ output: String, _ type: Int, _ parameters: [UInt8]
      ) {
        wire.message(1) { layer in
          layer.text(1, name)
          if !input.isEmpty { layer.text(2, input) }
          if !output.isEmpty { layer.text(3, output) }
          layer.bytes(type, parameters)
        }
      }
      func linear(adding number: Float) -> [UInt8] {
        Wire.message {
          $0.message(5) {
            $0.float(1, 1)
            $0.float(2, number)
          }
        }
      }
      func feature(_ name: String) -> [UInt8] {
        Wire.message { feature in
          feature.text(1, name)
          feature.message(3) {
            $0.message(5) {
              $0.packed(1, [1])
              $0.integer(2, 65568)
            }
          }
        }
      }
      let body = Wire.message { body in
        for index in 0..<count {
          layer(&body, "add\(index)", "y", "t\(index)", 130, linear(adding: 1))
          layer(&body, "copy\(index)", "t\(index)", "y", 600, [])
          guard breaks else { continue }
          layer(&body, "past\(index)", "y", "c\(index)", 830, Wire.message { $0.float(2, 1e6) })
          let side = Wire.message { layer(&$0, "break\(index)", "", "", 620, []) }
          layer(&body, "branch\(index)", "c\(index)", "", 605, Wire.message { $0.bytes(1, side) })
        }
      }
      let network = Wire.message { network in
        layer(&network, "start", "x", "y", 130, linear(adding: 0))
        layer(
          &network, "loop", "", "", 615,
          Wire.message {
            $0.integer(1, 2)
            $0.bytes(4, body)
          })
        network.integer(5, 1)
      }
      return Wire.message { model in
        model.integer(1, 4)
        model.message(2) {
          $0.bytes(1, feature("x"))
          $0.bytes(10, feature("y"))
        }
        model.bytes(500, network)
      }
    }

    private static func seconds(_ count: Int, breaks: Bool, _ process: OwnProcess) throws -> Double {
      let file = sums(count, breaks: breaks)
      let before = process.processorSeconds
      let program = try readCoreML(Bytes(file), path: "model.mlmodel", folder: "/nonexistent", files: [])
      let function = try #require(program.functions[program.defaultFunction])
      let graph = try function.graph(shapes: [:], evaluator: ReferenceEvaluator())
      #expect(graph.nodes.contains { $0.isControl })
      return process.processorSeconds - before
    }

    @Test(.slow) func manyBreaksAreReadBelowCubicTime() async {
      await #expect(processExitsWith: .success) {
        let process = OwnProcess()
        _ = try NetworkGrowthTests.seconds(50, breaks: true, process)
        // Four times as many: cubic growth would be 64 times the work.
        let few = try NetworkGrowthTests.seconds(100, breaks: true, process)
        let many = try NetworkGrowthTests.seconds(400, breaks: true, process)
        #expect(many < 24 * few + 0.05, "\(few) s for 100 breaks, \(many) s for 400")
      }
    }

    @Test(.slow) func readingTimeGrowsWithTheLoopLayers() async {
      await #expect(processExitsWith: .success) {
        let process = OwnProcess()
        _ = try NetworkGrowthTests.seconds(500, breaks: false, process)
        let few = try NetworkGrowthTests.seconds(2000, breaks: false, process)
        let many = try NetworkGrowthTests.seconds(8000, breaks: false, process)
        #expect(many < 9 * few + 0.05, "\(few) s for 2000 sums, \(many) s for 8000")
      }
    }
  }
}
