import KelvinGraph
import KelvinImport
import KelvinONNX
import KelvinReference
import TestSupport
import Testing

/// Element types of ONNX of at most 8 bits.
@Suite struct LowPrecisionTypeTests {
  /// A floating-point type by its number in ONNX, with its table in the standard.
  struct Float: Sendable, CustomTestStringConvertible {
    let name: String
    let number, mantissaBits, lowestExponent: Int
    let largest: Swift.Float
    /// The result for larger numbers, unless they saturate.
    let overflow: Swift.Float
    var hasNegativeZero = true

    var testDescription: String { name }

    /// The number that is nearest, of two the one with an even mantissa.
    func nearest(_ x: Swift.Float, saturates: Bool) -> Swift.Float {
      guard !x.isNaN, !x.isInfinite else { return x.isNaN ? x : end(x, saturates) }
      let exponent = x == 0 ? lowestExponent : max(Int(x.exponent), lowestExponent)
      let step = Swift.Float(sign: .plus, exponent: exponent - mantissaBits, significand: 1)
      let rounded = (x / step).rounded(.toNearestOrEven) * step
      if rounded.magnitude > largest { return end(x, saturates) }
      return rounded == 0 && !hasNegativeZero ? 0 : rounded
    }

    private func end(_ x: Swift.Float, _ saturates: Bool) -> Swift.Float {
      if saturates { return x < 0 ? -largest : largest }
      return overflow.isNaN ? overflow : x < 0 ? -overflow : overflow
    }
  }

  static let floats = [
    Float(name: "E4M3FN", number: 17, mantissaBits: 3, lowestExponent: -6, largest: 448, overflow: .nan),
    Float(
      name: "E4M3FNUZ", number: 18, mantissaBits: 3, lowestExponent: -7, largest: 240, overflow: .nan,
      hasNegativeZero: false),
    Float(name: "E5M2", number: 19, mantissaBits: 2, lowestExponent: -14, largest: 57344, overflow: .infinity),
    Float(
      name: "E5M2FNUZ", number: 20, mantissaBits: 2, lowestExponent: -15, largest: 57344, overflow: .nan,
      hasNegativeZero: false),
    Float(name: "E2M1", number: 23, mantissaBits: 1, lowestExponent: 0, largest: 6, overflow: 6),
    Float(name: "E2M3", number: 27, mantissaBits: 3, lowestExponent: 0, largest: 7.5, overflow: 7.5),
    Float(name: "E3M2", number: 28, mantissaBits: 2, lowestExponent: -2, largest: 28, overflow: 28),
  ]

  private func graph(_ file: ONNXFile) throws -> Graph { try readONNX(Bytes(file.bytes), path: "m.onnx").graph() }

  private func error(_ file: ONNXFile) -> FormatError? {
    do {
      _ = try graph(file)
      return nil
    } catch { return error as? FormatError }
  }

  /// The only output of one node, on x and on initialisers, computed by the reference device.
  private func result(
    _ kind: String, _ x: Tensor, _ attributes: KeyValuePairs<String, ONNXFile.Attribute> = [:],
    with others: [(name: String, tensor: [UInt8])] = [], type: Int = ONNXFile.float
  ) throws -> Tensor {
    var file = ONNXFile()
    file.opset = 25
    file.input("x", x.shape.dimensions, type: type)
    for other in others { file.initializer(other.tensor) }
    file.node(kind, ["x"] + others.map(\.name), ["y"], attributes)
    file.output("y", x.shape.dimensions)
    return try #require(try run(graph(file), [x]).first)
  }

  /// An initialiser of a type, by its bytes or by integers.
  private func tensor(
    _ name: String, _ number: Int, _ shape: [Int], bytes: [UInt8]? = nil, integers: [Int] = []
  ) -> [UInt8] {
    Wire.message {
      $0.packed(1, shape)
      $0.integer(2, number)
      if bytes == nil { $0.packed(5, integers) }
      $0.text(8, name)
      if let bytes { $0.bytes(9, bytes) }
    }
  }

  @Test(arguments: floats, [true, false])
  func castRoundsToTheNearestValue(type: Float, saturates: Bool) throws {
    var x: [Swift.Float] = [
      0, -0.0, .infinity, -.infinity, .nan, .leastNonzeroMagnitude, -.leastNormalMagnitude / 4, 3e38, -3e38,
    ]
    // Between two numbers of any exponent lie fewer than 2^5 of these.
    for exponent in (type.lowestExponent - type.mantissaBits - 3)...17 {
      for part in 0..<64 {
        let number = Swift.Float(sign: .plus, exponent: exponent, significand: 1 + Swift.Float(part) / 64)
        x += [number, -number, number.nextUp, number.nextDown]
      }
    }
    let y = try result(
      "Cast", Tensor(x, [x.count]), ["to": .integer(type.number), "saturate": .integer(saturates ? 1 : 0)])
    #expect(y.type.scalar == .float32)
    for (given, found) in zip(x, y.floats) {
      let expected = type.nearest(given, saturates: saturates)
      let isSame = found == expected && (found != 0 || found.sign == expected.sign) || found.isNaN && expected.isNaN
      #expect(isSame, "\(given): \(found), expected \(expected)")
    }
  }

  @Test func castToPowersOfTwoFollowsItsRoundingMode() throws {
    let x: [Swift.Float] = [0.75, 1, 1.25, 1.5, 1.75, 2, 3, 100, 0, 3e38, .infinity, .nan]
    let top: Swift.Float = 0x1p127
    let least: Swift.Float = 0x1p-127
    func powers(_ mode: String, saturates: Bool = true) throws -> [Swift.Float] {
      let attributes: KeyValuePairs<String, ONNXFile.Attribute> = [
        "to": .integer(24), "round_mode": .text(mode), "saturate": .integer(saturates ? 1 : 0),
      ]
      return try result("Cast", Tensor(x, [x.count]), attributes).floats
    }
    let up = try powers("up")
    #expect(Array(up.dropLast()) == [1, 1, 2, 2, 2, 2, 4, 128, least, top, top])
    #expect(up.last?.isNaN == true)
    #expect(try Array(powers("down").dropLast()) == [0.5, 1, 1, 1, 1, 2, 2, 64, least, top, top])
    #expect(try Array(powers("nearest").dropLast()) == [1, 1, 1, 2, 2, 2, 4, 128, least, top, top])
    let open = try powers("nearest", saturates: false)
    #expect(Array(open.prefix(8)) == [1, 1, 1, 2, 2, 2, 4, 128])
    #expect(open.dropFirst(8).allSatisfy { $0.isNaN })
    #expect(throws: FormatError.self) { try powers("sideways") }
  }

  @Test(arguments: [(21, 0, 15), (22, -8, 7), (25, 0, 3), (26, -2, 1)])
  func castToIntegersKeepsTheLowBits(number: Int, lowest: Int, highest: Int) throws {
    let x: [Swift.Float] = [-9, -8, -2.9, -1, 0, 1.9, 2, 7, 8, 15, 16, 1000, .nan]
    let count = highest - lowest + 1
    let y = try result("Cast", Tensor(x, [x.count]), ["to": .integer(number)])
    #expect(y.type.scalar == (lowest < 0 ? .int8 : .uint8))
    for (given, found) in zip(x, y.integers) {
      let whole = given.isNaN ? 0 : Int(given)
      #expect((lowest...highest).contains(found) && (whole - found) % count == 0, "\(given): \(found)")
    }
  }

  /// Every type stored as bytes and as integers, if the two differ.
  @Test func elementsAreReadFromBytesAndIntegers() throws {
    func read(_ tensor: [UInt8]) throws -> [Swift.Float] {
      var file = ONNXFile()
      file.opset = 25
      file.input("x", [1])
      file.initializer(tensor)
      file.node("Cast", ["w"], ["c"], ["to": .integer(1)])
      file.node("Add", ["c", "x"], ["y"])
      file.output("y")
      return try #require(try run(graph(file), [Tensor([0] as [Swift.Float], [1])]).first).floats
    }
    #expect(try read(tensor("w", 22, [3], bytes: [0xE1, 0x08])) == [1, -2, -8])
    #expect(try read(tensor("w", 22, [3], integers: [0xE1, 0x08])) == [1, -2, -8])
    #expect(try read(tensor("w", 21, [3], bytes: [0xE1, 0x08])) == [1, 14, 8])
    #expect(try read(tensor("w", 26, [5], bytes: [0b11_10_01_00, 0b10])) == [0, 1, -2, -1, -2])
    #expect(try read(tensor("w", 25, [5], integers: [0b11_10_01_00, 0b10])) == [0, 1, 2, 3, 2])
    #expect(try read(tensor("w", 23, [4], bytes: [0x71, 0x9F])) == [0.5, 6, -6, -0.5])
    #expect(try read(tensor("w", 17, [4], bytes: [0x01, 0x38, 0x7E, 0xC0])) == [0x1p-9, 1, 448, -2])
    #expect(try read(tensor("w", 17, [2], bytes: [0x7F, 0xFF])).allSatisfy { $0.isNaN })
    #expect(try read(tensor("w", 18, [2], integers: [0x40, 0x7F])) == [1, 240])
    #expect(try read(tensor("w", 18, [1], bytes: [0x80]))[0].isNaN)
    #expect(try read(tensor("w", 19, [3], bytes: [0x3C, 0x7B, 0xFC])) == [1, 57344, -.infinity])
    #expect(try read(tensor("w", 20, [2], bytes: [0x40, 0x01])) == [1, 0x1p-17])
    #expect(try read(tensor("w", 24, [2], bytes: [127, 130])) == [1, 8])
    // Four elements of six bits take three bytes; as integers each has its own.
    #expect(try read(tensor("w", 27, [4], bytes: [0b11_001000, 0b1111_0101, 0b100001_11])) == [1, 3.75, -7.5, -0.125])
    #expect(try read(tensor("w", 28, [2], integers: [0b001100, 0b111111])) == [1, -28])
  }

  @Test(arguments: [17, 21, 23, 26, 27])
  func elementsMustFillTheirShape(number: Int) {
    for shape in [[40], [1 << 61], [-1], [1 << 40, 1 << 40]] {
      for form in [tensor("w", number, shape, bytes: [1, 2, 3]), tensor("w", number, shape, integers: [1, 2, 3])] {
        var file = ONNXFile()
        file.input("x", [1])
        file.initializer(form)
        file.node("Cast", ["w"], ["c"], ["to": .integer(1)])
        file.node("Add", ["c", "x"], ["y"])
        file.output("y")
        #expect(error(file)?.code == .malformed, "\(shape)")
      }
    }
  }

  @Test func weightsStayPacked() throws {
    for (number, bytes) in [(22, 2048), (17, 4096)] {
      var file = ONNXFile()
      file.opset = 21
      file.input("x", [1])
      file.initializer(tensor("w", number, [64, 64], bytes: [UInt8](repeating: 0x21, count: bytes)))
      file.node("Cast", ["w"], ["c"], ["to": .integer(1)])
      file.node("Add", ["c", "x"], ["y"])
      file.output("y")
      let graph = try graph(file)
      let sizes = graph.values.compactMap { $0.weight?.storedByteCount }
      #expect(sizes.contains { (bytes...(bytes + 1024)).contains($0) }, "\(sizes)")
    }
  }

  @Test func quantizationSaturatesAtTheZeroPointType() throws {
    let x = Tensor([-100, -1.25, 0.25, 0.75, 3, 100] as [Swift.Float], [6])
    let scale = ONNXFile.tensor("s", [0.5] as [Swift.Float], [])
    func quantized(_ number: Int) throws -> [Swift.Float] {
      try result("QuantizeLinear", x, with: [("s", scale), ("z", tensor("z", number, [], bytes: [0]))]).floats
    }
    #expect(try quantized(22) == [-8, -2, 0, 2, 6, 7])
    #expect(try quantized(25) == [0, 0, 0, 2, 3, 3])
    #expect(try quantized(17) == [-192, -2.5, 0.5, 1.5, 6, 192])
    #expect(try quantized(23) == [-6, -2, 0.5, 1.5, 6, 6])
    let named = try result("QuantizeLinear", x, ["output_dtype": .integer(21)], with: [("s", scale)])
    #expect(named.type.scalar == .uint8 && named.integers == [0, 0, 0, 2, 6, 15])
  }

  /// The scale of a block, of an axis, of all.
  @Test func blockwiseQuantizationRoundTrips() throws {
    let x: [Swift.Float] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    let scales = ONNXFile.tensor("s", [1, 2, 4, 8, 16, 32] as [Swift.Float], [2, 3])
    let blocks: KeyValuePairs<String, ONNXFile.Attribute> = [
      "axis": .integer(1), "block_size": .integer(2), "output_dtype": .integer(17),
    ]
    let y = try result("QuantizeLinear", Tensor(x, [2, 5]), blocks, with: [("s", scales)])
    #expect(y.floats == [1, 2, 1.5, 2, 1.25, 0.75, 0.875, 0.5, 0.5625, 0.3125])
    let back: KeyValuePairs<String, ONNXFile.Attribute> = ["axis": .integer(1), "block_size": .integer(2)]
    #expect(try result("DequantizeLinear", y, back, with: [("s", scales)], type: 17).floats == x)
    let rows = ONNXFile.tensor("s", [2, 4] as [Swift.Float], [2])
    let doubled = try result("DequantizeLinear", y, ["axis": .integer(0)], with: [("s", rows)], type: 17)
    #expect(doubled.floats == y.floats.enumerated().map { $1 * ($0 < 5 ? 2 : 4) })
    let short = ONNXFile.tensor("s", [2] as [Swift.Float], [1, 1])
    #expect(throws: FormatError.self) {
      try result("QuantizeLinear", Tensor(x, [2, 5]), blocks, with: [("s", short)])
    }
    let endless: KeyValuePairs<String, ONNXFile.Attribute> = [
      "axis": .integer(1), "block_size": .integer(.max), "output_dtype": .integer(17),
    ]
    let columns = ONNXFile.tensor("s", [1, 2] as [Swift.Float], [2, 1])
    #expect(
      try result("QuantizeLinear", Tensor(x, [2, 5]), endless, with: [("s", columns)]).floats
        == [1, 2, 3, 4, 5, 3, 3.5, 4, 4.5, 5])
  }

  /// A type passes through what moves elements, and into branches.
  @Test func valuesKeepTheirTypesThroughBranches() throws {
    var then = Wire()
    for (number, kind) in [(1, "Identity"), (2, "CastLike")] {
      then.message(1) {
        $0.text(1, number == 1 ? "moved" : "x")
        if number == 2 { $0.text(1, "inner") }
        $0.text(2, number == 1 ? "inner" : "rounded")
        $0.text(4, kind)
      }
    }
    then.message(12) {
      $0.text(1, "rounded")
      $0.message(2) { $0.message(1) { $0.integer(1, 23) } }
    }
    var file = ONNXFile()
    file.opset = 25
    file.input("x", [2])
    file.input("c", [], type: 9)
    file.initializer(tensor("w", 23, [1, 2], bytes: [0]))
    file.integers("shape", [2])
    file.node("Transpose", ["w"], ["turned"])
    file.node("Reshape", ["turned", "shape"], ["moved"])
    file.node("If", ["c"], ["chosen"], ["then_branch": .graph(then.bytes), "else_branch": .graph(then.bytes)])
    file.node("CastLike", ["x", "chosen"], ["y"])
    file.output("chosen", [2], type: 23)
    file.output("y", [2], type: 23)
    let graph = try graph(file)
    let condition = Tensor(TensorType(.bool, []), rounding: [1])
    var interpreter = RegionInterpreter()
    let results = try interpreter.run(graph, [Tensor([1.2, 50] as [Swift.Float], [2]), condition])
    #expect(results.map(\.floats) == [[1, 6], [1, 6]])
  }

  @Test func bitCastIsRefused() throws {
    var file = ONNXFile()
    file.opset = 27
    file.input("x", [2], type: 17)
    file.node("BitCast", ["x"], ["y"], ["to": .integer(2)])
    file.output("y", [2], type: 2)
    #expect(throws: FormatError.self) { try readONNX(Bytes(file.bytes), path: "m.onnx") }
  }
}
