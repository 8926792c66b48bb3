import KelvinGraph
import TestSupport
import Testing

extension HeavyTests {
  /// From a file to a graph that is passed, work grows as the model does: four times the nodes take about four times the
  /// processor's time, where a step for each pair of nodes would take sixteen.
  @Suite struct GrowthTests {
    /// Chains of nodes that are merged, of nodes with their own constants, and of nodes that are removed; and values
    /// carried by one loop.
    enum Family: String, CaseIterable, Codable, Sendable {
      case clips, sums, reshapes, carried

      func file(_ count: Int) -> [UInt8] {
        if self == .carried { return loop(count / 8) }
        var file = ONNXFile()
        file.input("x0", [1, 4])
        for index in 0..<count {
          switch self {
          case .clips: file.node("Relu", ["x\(index)"], ["x\(index + 1)"])
          case .sums:
            file.weights("c\(index)", [Float(index), 2, 3, 4], [4])
            file.node("Add", ["x\(index)", "c\(index)"], ["x\(index + 1)"])
          case .reshapes:
            if index == 0 { file.integers("shape", [1, 4]) }
            file.node("Reshape", ["x\(index)", "shape"], ["x\(index + 1)"])
          case .carried: break
          }
        }
        file.output("x\(count)", [1, 4])
        return file.bytes
      }

      private func loop(_ count: Int) -> [UInt8] {
        var body = ONNXFile()
        body.input("trip", [], type: ONNXFile.int64)
        body.input("before", [], type: 9)
        body.node("Identity", ["before"], ["after"])
        body.output("after", [], type: 9)
        for index in 0..<count {
          body.input("given\(index)", [1, 4])
          body.node("Sin", ["given\(index)"], ["left\(index)"])
          body.output("left\(index)", [1, 4])
        }
        var file = ONNXFile()
        file.input("x", [1, 4])
        file.integers("trips", [2], [])
        let results = (0..<count).map { "result\($0)" }
        file.node(
          "Loop", ["trips", ""] + results.map { _ in "x" }, results, ["body": .graph(body.graph.bytes)])
        file.output("result0", [1, 4])
        return file.bytes
      }
    }

    @Test(.slow, arguments: Family.allCases) func readingTimeGrowsWithTheModel(family: Family) async {
      await #expect(processExitsWith: .success) { [family] in
        let process = OwnProcess()
        func seconds(_ count: Int) -> Double {
          let file = family.file(count)
          let before = process.processorSeconds
          #expect(settleONNX(file, "\(family), \(count) nodes") == .graph)
          return process.processorSeconds - before
        }
        _ = seconds(1000)
        let (few, many) = (seconds(8000), seconds(32_000))
        #expect(many < 9 * few + 0.05, "\(family): \(few) s for 8000 nodes, \(many) s for 32 000")
      }
    }
  }
}
