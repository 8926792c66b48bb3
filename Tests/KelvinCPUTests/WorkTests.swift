import KelvinCPU
import KelvinGraph
import KelvinReference
import Testing

/// The work that the CPU device counts for estimates of nodes that were not measured.
@Suite struct WorkTests {
  /// Returns the work of the last node of a graph.
  private func work(_ make: (inout GraphBuilder) throws -> ValueID) throws -> Work {
    var builder = GraphBuilder(evaluator: ReferenceEvaluator())
    builder.output(try make(&builder))
    let graph = try builder.finish()
    return CPUDevice().work(of: try #require(graph.nodes.last), in: graph)
  }

  private let origin = Origin(name: "layer", kind: "Test", index: 0)

  @Test func sliceMovesOnlyTheElementsThatItKeeps() throws {
    let whole = try work { builder in
      let x = try builder.input("x", TensorType(.float32, [1000, 1000]))
      return try builder.add(
        Slice(starts: [0, 0], counts: [1000, 10], steps: [1, 1]), x, name: "slice", origin: origin)
    }
    #expect(whole.bytes == 2 * 4 * 10_000)
  }

  @Test func scatterIntoAComputedTensorCopiesNothing() throws {
    func scattered(intoComputed isComputed: Bool) throws -> Work {
      try work { builder in
        let x = try builder.input("x", TensorType(.float32, [1000, 1000]))
        let indices = try builder.input("indices", TensorType(.int64, [5, 1]))
        let updates = try builder.input("updates", TensorType(.float32, [5, 1000]))
        let target = isComputed ? try builder.add(Unary(.relu), x, name: "relu", origin: origin) : x
        return try builder.add(
          ScatterND(reduction: .replace), target, indices, updates, name: "scatter", origin: origin)
      }
    }
    let (inPlace, copied) = (try scattered(intoComputed: true), try scattered(intoComputed: false))
    #expect(inPlace.bytes == 5 * 8 + 2 * 4 * 5000)
    #expect(copied.bytes > 2 * 4_000_000)
  }

  /// Tiles of 3 × 3 taps need transformed weights, which are made once from constants.
  @Test func onlyConstantWeightsSaveMultiplications() throws {
    func convolved(_ kernel: [Int], isConstant: Bool) throws -> Work {
      try work { builder in
        let x = try builder.input("x", TensorType(.float32, [1, 64, 56, 56]))
        let type = TensorType(.float32, Shape([64, 64] + kernel))
        let weights =
          isConstant
          ? builder.constant("weights", Weight(type) { Tensor(type, Bytes(count: type.byteCount) { _ in }) })
          : try builder.input("weights", type)
        let op = Convolution(
          window: Window(kernel: kernel, before: kernel.map { $0 / 2 }, after: kernel.map { $0 / 2 }))
        return try builder.add(op, x, weights, name: "convolution", origin: origin)
      }
    }
    let few = try convolved([3, 3], isConstant: true).operations
    #expect(few < 2 * 56 * 56 * 64 * 64 * 9)
    #expect(try convolved([3, 3], isConstant: false).operations > 2 * few)
    let many = try convolved([5, 5], isConstant: true).operations
    #expect(abs(many / (try convolved([5, 5], isConstant: false).operations) - 1) < 1e-9)
  }
}
