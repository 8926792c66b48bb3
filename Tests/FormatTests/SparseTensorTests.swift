import KelvinGraph
import KelvinImport
import KelvinONNX
import Testing

/// Tensors of which an ONNX file has only the elements that are not 0.
@Suite struct SparseTensorTests {
  private static func sparse(
    _ values: [UInt8], _ indices: [Int], _ indexShape: [Int]?, _ shape: [Int]
  ) -> [UInt8] {
    Wire.message {
      $0.bytes(1, values)
      $0.bytes(2, ONNXFile.tensor("", indices, indexShape))
      $0.packed(3, shape)
    }
  }

  private static func sparse(
    _ values: [Float], _ indices: [Int], _ indexShape: [Int]?, _ shape: [Int]
  ) -> [UInt8] { sparse(ONNXFile.tensor("w", values, [values.count]), indices, indexShape, shape) }

  private func sum(_ tensor: [UInt8], _ input: [Int], takesInput: Bool = false) throws -> Tensor {
    var file = ONNXFile()
    file.input("x", input)
    if takesInput { file.input("w", input) }
    file.sparseInitializer(tensor)
    file.node("Add", ["x", "w"], ["y"])
    file.output("y")
    let count = input.reduce(1, *)
    let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
    #expect(graph.inputs.count == 1)
    return try #require(try run(graph, [Tensor([Float](repeating: 1, count: count), Shape(input))]).first)
  }

  @Test func sparseElementsHaveTheirIndices() throws {
    let flat = Self.sparse([5, 6] as [Float], [1, 5], nil, [2, 3])
    #expect(try sum(flat, [2, 3]).floats == [1, 6, 1, 1, 1, 7])
    let tuples = Self.sparse([5, 6] as [Float], [0, 1, 1, 2], [2, 2], [2, 3])
    #expect(try sum(tuples, [2, 3]).floats == [1, 6, 1, 1, 1, 7])
    #expect(try sum(Self.sparse([7] as [Float], [2], [1, 1], [3]), [3], takesInput: true).floats == [1, 1, 8])
    #expect(try sum(Self.sparse([] as [Float], [], [0, 2], [2, 2]), [2, 2]).floats == [1, 1, 1, 1])
  }

  @Test func aConstantMayBeSparse() throws {
    var file = ONNXFile()
    file.input("x", [1])
    file.node(
      "Constant", [], ["w"],
      ["sparse_value": .sparse(Self.sparse(ONNXFile.tensor("w", [3, 9] as [Int]), [3, 0], nil, [4]))])
    file.node("Cast", ["w"], ["c"], ["to": .integer(ONNXFile.float)])
    file.node("Add", ["x", "c"], ["y"])
    file.output("y")
    let graph = try readONNX(Bytes(file.bytes), path: "m.onnx").graph()
    #expect(try run(graph, [Tensor([1] as [Float], [1])])[0].floats == [10, 1, 1, 4])
  }

  @Test(arguments: [
    sparse([5] as [Float], [6], nil, [2, 3]), sparse([5] as [Float], [-1], nil, [2, 3]),
    sparse([5] as [Float], [0, 3], [1, 2], [2, 3]), sparse([5] as [Float], [-1, 0], [1, 2], [2, 3]),
    sparse([5] as [Float], [0, 1], nil, [2, 3]), sparse([5] as [Float], [0, 1, 2], [1, 3], [2, 3]),
    sparse([5] as [Float], [0], nil, [1 << 40]), sparse([5] as [Float], [0], nil, [1 << 62, 4]),
    sparse([5] as [Float], [0], nil, [-1]), sparse([5] as [Float], [0], nil, [Int](repeating: 1, count: 80)),
    Wire.message { $0.packed(3, [2, 3]) },
  ])
  func invalidIndicesAndHugeShapesAreRefused(tensor: [UInt8]) throws {
    var file = ONNXFile()
    file.input("x", [2, 3])
    file.sparseInitializer(tensor)
    file.node("Add", ["x", "w"], ["y"])
    file.output("y")
    let error = #expect(throws: FormatError.self) { try readONNX(Bytes(file.bytes), path: "m.onnx").graph() }
    #expect(error?.code == .malformed)
  }
}
