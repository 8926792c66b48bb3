/// Small ONNX models, written field by field. Reference: onnx.proto of the ONNX repository.
enum ONNXFile {
  /// Returns `y = f(… (x · w))` for a float32 input `x` of shape 1x2 and a weight matrix `w`.
  ///
  /// - Parameters:
  ///   - weightShape: the declared shape of `w`, correct or not.
  ///   - operators: further operations, each on the previous result.
  static func model(weightShape: [Int], weights: [Float], operators: [String] = []) -> [UInt8] {
    var nodes = [node("MatMul", ["x", "w"], "y0")]
    for (index, kind) in operators.enumerated() { nodes.append(node(kind, ["y\(index)"], "y\(index + 1)")) }
    let weight =
      weightShape.flatMap { field(1, UInt64($0)) } + field(2, 1) + field(8, "w")
      + field(9, weights.withUnsafeBytes { Array($0) })
    let graph =
      nodes.flatMap { field(1, $0) } + field(2, "graph") + field(5, weight)
      + field(11, value("x", [1, 2])) + field(12, value("y\(operators.count)", [1, 2]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = x · w` for a float32 input `x` of one row.
  ///
  /// - Parameters:
  ///   - shape: The rows and columns of `w`.
  ///   - location: The file that holds the elements of `w`; nil if they are in the model.
  static func product(_ weights: [Float], _ shape: [Int], in location: String? = nil) -> [UInt8] {
    let bytes = weights.withUnsafeBytes { Array($0) }
    let elements =
      location.map {
        field(13, field(1, "location") + field(2, $0)) + field(13, field(1, "length") + field(2, "\(bytes.count)"))
          + field(14, 1)
      } ?? field(9, bytes)
    let weight = shape.flatMap { field(1, UInt64($0)) } + field(2, 1) + field(8, "w") + elements
    let graph =
      field(1, node("MatMul", ["x", "w"], "y")) + field(2, "graph") + field(5, weight)
      + field(11, value("x", [1, shape[0]])) + field(12, value("y", [1, shape[1]]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = max(x, 0)` for a float32 input `x` of n rows of 3.
  static func flexible() -> [UInt8] {
    func value(_ name: String) -> [UInt8] {
      let dimensions = field(1, field(2, "n")) + field(1, field(1, 3))
      return field(1, name) + field(2, field(1, field(1, 1) + field(2, dimensions)))
    }
    let graph = field(1, node("Relu", ["x"], "y")) + field(2, "graph") + field(11, value("x")) + field(12, value("y"))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = max(x, 0)` for a float32 input `x` without a shape.
  static func unranked() -> [UInt8] {
    func value(_ name: String) -> [UInt8] { field(1, name) + field(2, field(1, field(1, 1))) }
    let graph = field(1, node("Relu", ["x"], "y")) + field(2, "graph") + field(11, value("x")) + field(12, value("y"))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = max(x, 0)` of so many numbers.
  static func rectifier(_ size: Int) -> [UInt8] { rectifiers([(input: "x", output: "y")], [1, size]) }

  /// `output = max(input, 0)` for each pair of names.
  static func rectifiers(_ names: [(input: String, output: String)], _ shape: [Int]) -> [UInt8] {
    let graph =
      names.flatMap { field(1, node("Relu", [$0.input], $0.output)) } + field(2, "graph")
      + names.flatMap { field(11, value($0.input, shape)) } + names.flatMap { field(12, value($0.output, shape)) }
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// A class for each of the three colours of one pixel `x`, whose numbers are valid from -2 to 1.
  static func lookup() -> [UInt8] {
    let toInteger = field(5, field(1, "to") + field(3, 7) + field(20, 2))
    let table = field(1, 2) + field(2, 1) + field(8, "table") + field(9, [UInt8](repeating: 0, count: 8))
    let graph =
      field(1, node("Flatten", ["x"], "numbers")) + field(1, node("Cast", ["numbers"], "index") + toInteger)
      + field(1, node("Gather", ["table", "index"], "y")) + field(2, "graph") + field(5, table)
      + field(11, value("x", [1, 3, 1, 1])) + field(12, value("y", [1, 3]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = f(f(… x))` for the logistic function `f`, so often.
  static func loop(trips: Int) -> [UInt8] {
    func scalar(_ name: String, _ type: UInt64) -> [UInt8] {
      field(1, name) + field(2, field(1, field(1, type) + field(2, [UInt8]())))
    }
    let (integer, truth) = (UInt64(7), UInt64(9))
    let body =
      field(1, node("Sigmoid", ["inside"], "next")) + field(1, node("Identity", ["goes on"], "goes on then"))
      + field(2, "body") + field(11, scalar("trip", integer)) + field(11, scalar("goes on", truth))
      + field(11, value("inside", [1, 4])) + field(12, scalar("goes on then", truth))
      + field(12, value("next", [1, 4]))
    let loop =
      node("Loop", ["trips", "", "x"], "y")
      + field(5, field(1, "body") + field(6, body) + field(20, 5))
    let limit = field(2, integer) + field(8, "trips") + field(7, UInt64(trips))
    let graph =
      field(1, loop) + field(2, "graph") + field(5, limit) + field(11, value("x", [1, 4]))
      + field(12, value("y", [1, 4]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  /// `y = x · w · w` in a loop, whose matrix of 4 x 4 numbers is in a file that only the loop's body names.
  static func loop(weightsIn location: String) -> [UInt8] {
    func scalar(_ name: String, _ type: UInt64) -> [UInt8] {
      field(1, name) + field(2, field(1, field(1, type) + field(2, [UInt8]())))
    }
    let (integer, truth) = (UInt64(7), UInt64(9))
    let weight =
      field(1, 4) + field(1, 4) + field(2, 1) + field(8, "w")
      + field(13, field(1, "location") + field(2, location)) + field(13, field(1, "length") + field(2, "64"))
      + field(14, 1)
    let body =
      field(1, node("MatMul", ["inside", "w"], "next")) + field(1, node("Identity", ["goes on"], "goes on then"))
      + field(2, "body") + field(5, weight) + field(11, scalar("trip", integer)) + field(11, scalar("goes on", truth))
      + field(11, value("inside", [1, 4])) + field(12, scalar("goes on then", truth))
      + field(12, value("next", [1, 4]))
    let loop =
      node("Loop", ["trips", "", "x"], "y")
      + field(5, field(1, "body") + field(6, body) + field(20, 5))
    let limit = field(2, integer) + field(8, "trips") + field(7, UInt64(2))
    let graph =
      field(1, loop) + field(2, "graph") + field(5, limit) + field(11, value("x", [1, 4]))
      + field(12, value("y", [1, 4]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  private static func node(_ kind: String, _ inputs: [String], _ output: String) -> [UInt8] {
    inputs.flatMap { field(1, $0) } + field(2, output) + field(3, "node of \(output.prefix(40))") + field(4, kind)
  }

  private static func value(_ name: String, _ shape: [Int]) -> [UInt8] {
    let dimensions = shape.flatMap { field(1, field(1, UInt64($0))) }
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dimensions)))
  }

  private static func field(_ number: Int, _ value: UInt64) -> [UInt8] { varint(UInt64(number) << 3) + varint(value) }
  private static func field(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
  private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
    varint(UInt64(number) << 3 | 2) + varint(UInt64(bytes.count)) + bytes
  }

  private static func varint(_ value: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
