/// Writes ONNX models. Field numbers are those of onnx.proto.
struct ONNXFile {
  enum Attribute {
    case integer(Int)
    case integers([Int])
    case float(Float)
    case text(String)
    case tensor([UInt8])
    case graph([UInt8])
    case sparse([UInt8])
  }

  /// The standard operator set; nil to import none.
  var opset: Int? = 18
  /// The version of the file format.
  var irVersion = 8
  private(set) var graph = Wire()

  static let (float, uint8, int32, int64, double) = (1, 2, 6, 7, 11)

  mutating func input(_ name: String, _ shape: [Int], type: Int = float) { value(11, name, shape, type) }
  mutating func output(_ name: String, _ shape: [Int] = [], type: Int = float) { value(12, name, shape, type) }

  private mutating func value(_ field: Int, _ name: String, _ shape: [Int], _ type: Int) {
    graph.message(field) {
      $0.text(1, name)
      $0.message(2) {
        $0.message(1) {
          $0.integer(1, type)
          $0.message(2) { for size in shape { $0.message(1) { $0.integer(1, size) } } }
        }
      }
    }
  }

  static func tensor(_ name: String, _ values: [Float], _ shape: [Int]) -> [UInt8] {
    Wire.message {
      $0.packed(1, shape)
      $0.integer(2, float)
      $0.text(8, name)
      $0.bytes(9, littleEndian(values))
    }
  }

  static func tensor(_ name: String, _ values: [Int], _ shape: [Int]? = nil) -> [UInt8] {
    Wire.message {
      $0.packed(1, shape ?? [values.count])
      $0.integer(2, int64)
      $0.packed(7, values)
      $0.text(8, name)
    }
  }

  static func tensor(_ name: String, bytes: [UInt8], _ shape: [Int]) -> [UInt8] {
    Wire.message {
      $0.packed(1, shape)
      $0.integer(2, uint8)
      $0.text(8, name)
      $0.bytes(9, bytes)
    }
  }

  /// A float tensor whose elements are in another file.
  static func external(_ name: String, _ shape: [Int], _ entries: [(String, String)]) -> [UInt8] {
    Wire.message {
      $0.packed(1, shape)
      $0.integer(2, float)
      $0.text(8, name)
      for (key, value) in entries {
        $0.message(13) {
          $0.text(1, key)
          $0.text(2, value)
        }
      }
      $0.integer(14, 1)
    }
  }

  mutating func initializer(_ tensor: [UInt8]) { graph.bytes(5, tensor) }
  mutating func sparseInitializer(_ tensor: [UInt8]) { graph.bytes(15, tensor) }
  mutating func weights(_ name: String, _ values: [Float], _ shape: [Int]) {
    initializer(Self.tensor(name, values, shape))
  }
  mutating func integers(_ name: String, _ values: [Int], _ shape: [Int]? = nil) {
    initializer(Self.tensor(name, values, shape))
  }

  /// A node as its message.
  mutating func raw(_ node: [UInt8]) { graph.bytes(1, node) }

  /// An input or output of any kind as its message.
  mutating func rawInput(_ value: [UInt8]) { graph.bytes(11, value) }
  mutating func rawOutput(_ value: [UInt8]) { graph.bytes(12, value) }

  /// Weights of many kinds.
  mutating func ramp(_ name: String, _ shape: [Int]) {
    let count = shape.reduce(1, *)
    weights(name, (0..<count).map { Float($0 % 7) / 7 - 0.4 }, shape)
  }

  mutating func node(
    _ kind: String, _ inputs: [String], _ outputs: [String], name: String? = nil, domain: String = "",
    _ attributes: KeyValuePairs<String, Attribute> = [:]
  ) {
    graph.message(1) {
      for input in inputs { $0.text(1, input) }
      for output in outputs { $0.text(2, output) }
      $0.text(3, name ?? outputs.first ?? "")
      $0.text(4, kind)
      if !domain.isEmpty { $0.text(7, domain) }
      for (name, attribute) in attributes {
        $0.message(5) {
          $0.text(1, name)
          switch attribute {
          case .integer(let value): $0.integer(3, value)
          case .integers(let values): $0.packed(8, values)
          case .float(let value): $0.float(2, value)
          case .text(let value): $0.text(4, value)
          case .tensor(let value): $0.bytes(5, value)
          case .graph(let value): $0.bytes(6, value)
          case .sparse(let value): $0.bytes(22, value)
          }
        }
      }
    }
  }

  var bytes: [UInt8] {
    Wire.message {
      $0.integer(1, irVersion)
      $0.text(2, "tests")
      $0.bytes(7, graph.bytes)
      if let opset { $0.message(8) { $0.integer(2, opset) } }
    }
  }
}

extension ONNXFile {
  /// One node between an input and an output.
  static func single(
    _ kind: String, input shape: [Int], _ attributes: KeyValuePairs<String, Attribute> = [:], opset: Int = 18,
    constants: KeyValuePairs<String, [Int]> = [:]
  ) -> ONNXFile {
    var file = ONNXFile()
    file.opset = opset
    file.input("x", shape)
    for (name, values) in constants { file.integers(name, values) }
    file.node(kind, ["x"] + constants.map(\.key), ["y"], attributes)
    file.output("y")
    return file
  }

  /// Two convolutions with pools and a matrix product: the size and the operators of a digit classifier of 1998.
  static let classifier: ONNXFile = {
    var file = ONNXFile()
    file.opset = 7
    file.input("image", [1, 1, 28, 28])
    file.ramp("w1", [8, 1, 5, 5])
    file.ramp("b1", [8, 1, 1])
    file.ramp("w2", [16, 8, 5, 5])
    file.ramp("b2", [16, 1, 1])
    file.ramp("w3", [256, 10])
    file.ramp("b3", [1, 10])
    file.integers("flat", [1, 256])
    file.node(
      "Conv", ["image", "w1"], ["c1"], ["kernel_shape": .integers([5, 5]), "auto_pad": .text("SAME_UPPER")])
    file.node("Add", ["c1", "b1"], ["a1"])
    file.node("Relu", ["a1"], ["r1"])
    file.node("MaxPool", ["r1"], ["p1"], ["kernel_shape": .integers([2, 2]), "strides": .integers([2, 2])])
    file.node("Conv", ["p1", "w2"], ["c2"], ["auto_pad": .text("SAME_UPPER"), "group": .integer(1)])
    file.node("Add", ["c2", "b2"], ["a2"])
    file.node("Relu", ["a2"], ["r2"])
    file.node(
      "MaxPool", ["r2"], ["p2"],
      ["kernel_shape": .integers([3, 3]), "strides": .integers([3, 3]), "pads": .integers([0, 0, 0, 0])])
    file.node("Reshape", ["p2", "flat"], ["f"])
    file.node("MatMul", ["f", "w3"], ["m"])
    file.node("Add", ["m", "b3"], ["scores"])
    file.node("Softmax", ["scores"], ["probabilities"])
    file.output("scores", [1, 10])
    file.output("probabilities", [1, 10])
    return file
  }()

  /// As many kinds of operator and attribute as fit in a few kilobytes; almost every byte is structure.
  static let manifold: ONNXFile = {
    var file = ONNXFile()
    file.input("x", [1, 4, 6, 6])
    file.ramp("w", [4, 2, 3, 3])
    file.ramp("bias", [4])
    file.ramp("square", [6, 6])
    file.integers("pads", [0, 0, 1, 1, 0, 0, 1, 1])
    file.integers("starts", [-1])
    file.integers("ends", [-100])
    file.integers("axes", [3])
    file.integers("steps", [-2])
    file.integers("repeats", [1, 1, 2, 1])
    file.integers("sizes", [1, 3])
    file.integers("shape", [0, -1, 3])
    file.integers("last", [-1])
    file.integers("rows", [2, 0, 1])
    file.node("Conv", ["x", "w", "bias"], ["conv"], ["group": .integer(2), "pads": .integers([1, 1, 1, 1])])
    file.node("BatchNormalization", ["conv", "bias", "bias", "bias", "bias"], ["bn"], ["epsilon": .float(10)])
    file.node("Clip", ["bn"], ["clip"])
    file.node("Pad", ["clip", "pads"], ["pad"], ["mode": .text("reflect")])
    file.node(
      "AveragePool", ["pad"], ["pool"],
      ["kernel_shape": .integers([3, 3]), "strides": .integers([2, 2]), "ceil_mode": .integer(1)])
    file.node("Slice", ["pool", "starts", "ends", "axes", "steps"], ["slice"])
    file.node("Tile", ["slice", "repeats"], ["tile"])
    file.node("Shape", ["tile"], ["tile_shape"], ["start": .integer(1)])
    file.node("Gather", ["tile_shape", "last"], ["width"])
    file.node("ConstantOfShape", ["tile_shape"], ["zeros"], ["value": .tensor(tensor("", [Float(0.5)], [1]))])
    file.node("Add", ["tile", "zeros"], ["sum"])
    file.node("Split", ["sum", "sizes"], ["one", "three"], ["axis": .integer(1)])
    file.node("Expand", ["one", "tile_shape"], ["expanded"])
    file.node("Concat", ["expanded", "three"], ["joined"], ["axis": .integer(-3)])
    file.node("Transpose", ["joined"], ["turned"], ["perm": .integers([0, 2, 1, 3])])
    file.node("Flatten", ["turned"], ["flat"], ["axis": .integer(2)])
    file.node("Unsqueeze", ["flat", "last"], ["raised"])
    file.node("Squeeze", ["raised", "last"], ["lowered"])
    file.node("Pow", ["lowered", "lowered"], ["power"])
    file.node("ReduceMean", ["power", "last"], ["mean"], ["keepdims": .integer(1)])
    file.node("LayerNormalization", ["x", "square"], ["normal"], ["axis": .integer(2)])
    file.node("MatMul", ["normal", "square"], ["product"])
    file.node("DepthToSpace", ["product"], ["space"], ["blocksize": .integer(2)])
    file.node("Gather", ["space", "rows"], ["picked"], ["axis": .integer(3)])
    file.node("ArgMax", ["picked"], ["best"], ["axis": .integer(-1), "keepdims": .integer(0)])
    file.node("Cast", ["best"], ["best_float"], ["to": .integer(float)])
    file.node("Softmax", ["best_float"], ["soft"])
    file.node("Gemm", ["mean", "mean"], ["gemm"], ["transB": .integer(1), "alpha": .float(0.5)])
    file.node("Constant", [], ["constant"], ["value": .tensor(tensor("", [Float(1), 2, 3], [3]))])
    file.node("Mul", ["picked", "constant"], ["scaled"])
    file.output("soft", [1, 1, 12])
    file.output("gemm")
    file.output("scaled")
    file.output("width", [1], type: int64)
    return file
  }()
}
