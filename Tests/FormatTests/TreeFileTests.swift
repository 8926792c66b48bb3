import KelvinCoreML
import KelvinGraph
import KelvinImport
import KelvinONNX
import Testing

/// Trees with contradictory numbers, and support vectors with missing elements.
@Suite struct TreeFileTests {
  /// A regressor of one feature whose nodes are given as (tree, node, mode, feature, true child, false child).
  private static func onnx(
    _ nodes: [(Int, Int, String, Int, Int, Int)], leaves: [(Int, Int, Int)] = [], values: Int? = nil
  ) -> ONNXFile {
    var file = ONNXFile()
    file.input("x", [1, 1])
    file.output("y", [1, 1])
    func attribute(_ name: String, _ contents: (inout Wire) -> Void) -> [UInt8] {
      Wire.message {
        $0.text(1, name)
        contents(&$0)
      }
    }
    let integers = [
      ("nodes_treeids", nodes.map(\.0)), ("nodes_nodeids", nodes.map(\.1)), ("nodes_featureids", nodes.map(\.3)),
      ("nodes_truenodeids", nodes.map(\.4)), ("nodes_falsenodeids", nodes.map(\.5)),
      ("target_treeids", leaves.map(\.0)), ("target_nodeids", leaves.map(\.1)), ("target_ids", leaves.map(\.2)),
    ]
    let floats = [("nodes_values", values ?? nodes.count), ("target_weights", leaves.count)]
    let node = Wire.message { wire in
      wire.text(1, "x")
      wire.text(2, "y")
      wire.text(3, "forest")
      wire.text(4, "TreeEnsembleRegressor")
      wire.text(7, "ai.onnx.ml")
      for (name, numbers) in integers { wire.bytes(5, attribute(name) { $0.packed(8, numbers) }) }
      for (name, count) in floats {
        wire.bytes(5, attribute(name) { $0.bytes(7, littleEndian([Float](repeating: 0.5, count: count))) })
      }
      wire.bytes(5, attribute("nodes_modes") { for node in nodes { $0.text(9, node.2) } })
    }
    file.raw(node)
    return file
  }

  private static func refusal(_ file: ONNXFile) -> String {
    do {
      _ = try readONNX(Bytes(file.bytes), path: "forest.onnx")
      return "nothing was refused"
    } catch { return "\(error)" }
  }

  private static let (branch, leaf) = ("BRANCH_LEQ", "LEAF")

  @Test func validTreesAreRead() {
    let file = Self.onnx(
      [
        (0, 0, Self.branch, 0, 1, 2), (0, 1, Self.leaf, 0, 0, 0), (0, 2, Self.leaf, 0, 0, 0),
        (7, 5, Self.leaf, 0, 0, 0),
      ],
      leaves: [(0, 1, 0), (7, 5, 0)])
    #expect(Self.refusal(file) == "nothing was refused")
  }

  @Test func nodeErrorsNameTreeAndNode() {
    let (branch, leaf) = (Self.branch, Self.leaf)
    let leaves = [(0, 1, leaf, 0, 0, 0), (0, 2, leaf, 0, 0, 0)]
    let cases: [(String, ONNXFile)] = [
      ("node 0 of tree 0 has node 9 as a child, which does not exist", Self.onnx([(0, 0, branch, 0, 1, 9)] + leaves)),
      ("node 1 of tree 0 is defined twice", Self.onnx([(0, 0, branch, 0, 1, 2), (0, 1, leaf, 0, 0, 0)] + leaves)),
      ("tree 0 has no root", Self.onnx([(0, 0, branch, 0, 1, 1), (0, 1, branch, 0, 0, 0)])),
      (
        "node 1 of tree 0 is reached from itself",
        Self.onnx([(0, 0, branch, 0, 1, 2), (0, 1, branch, 0, 1, 2), (0, 2, leaf, 0, 0, 0)])
      ),
      (
        "node 0 of tree 0 and node 1 of tree 0 are not children of another node",
        Self.onnx([(0, 0, leaf, 0, 0, 0)] + leaves)
      ),
      ("node 0 of tree 0 tests the feature -1", Self.onnx([(0, 0, branch, -1, 1, 2)] + leaves)),
      ("node 0 of tree 0 tests the feature \(1 << 40)", Self.onnx([(0, 0, branch, 1 << 40, 1, 2)] + leaves)),
      ("the mode of a node is 'BRANCH_IN'", Self.onnx([(0, 0, "BRANCH_IN", 0, 1, 2)] + leaves)),
      ("nodes_values has 2 elements, nodes_treeids has 3", Self.onnx([(0, 0, branch, 0, 1, 2)] + leaves, values: 2)),
      ("tree 3 has no node 1", Self.onnx([(0, 0, branch, 0, 1, 2)] + leaves, leaves: [(3, 1, 0)])),
      (
        "node 1 of tree 0 votes for 1, which is not one",
        Self.onnx([(0, 0, branch, 0, 1, 2)] + leaves, leaves: [(0, 1, 1)])
      ),
      ("it has no nodes", Self.onnx([])),
    ]
    for (expected, file) in cases {
      let refusal = Self.refusal(file)
      #expect(refusal.contains(expected) && refusal.contains("TreeEnsembleRegressor 'forest'"), "\(refusal)")
    }
  }

  /// A Core ML model of one type, from `x`, an array, to a number.
  private static func coreML(_ type: Int, _ contents: [UInt8]) -> String {
    let bytes = Wire.message {
      $0.integer(1, 4)
      $0.message(2) {
        $0.message(1) {
          $0.text(1, "x")
          $0.message(3) {
            $0.message(5) {
              $0.packed(1, [3])
              $0.integer(2, 65600)
            }
          }
        }
        $0.message(10) {
          $0.text(1, "y")
          $0.message(3) { $0.bytes(2, []) }
        }
      }
      $0.bytes(type, contents)
    }
    do {
      _ = try readCoreML(Bytes(bytes), path: "model.mlmodel", folder: "/nonexistent", files: [])
      return "nothing was refused"
    } catch { return "\(error)" }
  }

  @Test func invalidCoreMLTreesAndVectorsAreRefused() {
    func trees(_ dimensions: Int, _ nodes: [[UInt8]]) -> String {
      let ensemble = Wire.message {
        for node in nodes { $0.bytes(1, node) }
        $0.integer(2, dimensions)
      }
      return Self.coreML(302, Wire.message { $0.bytes(1, ensemble) })
    }
    let leaf = Wire.message { $0.integer(3, 6) }
    let loop = Wire.message { $0.integer(3, 0) }
    #expect(trees(1, [leaf]) == "nothing was refused")
    #expect(trees(1 << 62, [leaf]).contains("\(1 << 62) numbers are predicted"))
    #expect(trees(-1, [leaf]).contains("-1 numbers are predicted"))
    #expect(trees(1, [loop]).contains("tree 0 has no root"))
    #expect(trees(1, [leaf, leaf]).contains("node 0 of tree 0 is defined twice"))
    #expect(trees(1, [Wire.message { $0.integer(3, 99) }]).contains("behaviour 99"))

    func vectors(_ place: Int) -> String {
      Self.coreML(
        301,
        Wire.message {
          $0.message(1) { $0.bytes(1, []) }
          $0.message(2) { $0.message(1) { $0.message(1) { $0.integer(1, place) } } }
          $0.message(4) { $0.bytes(1, [UInt8](repeating: 0, count: 8)) }
        })
    }
    #expect(vectors(3) == "nothing was refused")
    for place in [0, -1, .max, .min] {
      #expect(vectors(place).contains("an element of a vector has the index \(place)"), "\(vectors(place))")
    }
  }
}
