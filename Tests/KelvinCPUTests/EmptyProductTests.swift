import ConformanceChecks
import KelvinCPU
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import Testing

/// Empty products, alone in a graph: no memory is allocated for their packed operands.
struct EmptyProductTests {
  @Test(
    "a product without rows, columns or terms matches the reference",
    arguments: [(0, 3, 2), (2, 0, 3), (2, 3, 0), (0, 0, 0)] as [(rows: Int, terms: Int, columns: Int)])
  func products(size: (rows: Int, terms: Int, columns: Int)) throws {
    let x = Tensor([Float](repeating: 1, count: size.rows * size.terms), [size.rows, size.terms])
    let y = Tensor([Float](repeating: 2, count: size.terms * size.columns), [size.terms, size.columns])
    let weights = Tensor(y.floats, [size.columns, size.terms])
    let graphs = [
      try oneNode(MatMul(), x, inputs: [y]), try oneNode(MatMul(), x, weights: [y]),
      try oneNode(Linear(), x, weights: [weights]),
    ]
    for (graph, inputs) in graphs {
      let expected = try ReferenceDevice().run(graph, inputs).outputs
      for threads in [1, 2] { #expect(try CPUDevice().run(graph, inputs, threads: threads).outputs == expected) }
    }
  }
}
