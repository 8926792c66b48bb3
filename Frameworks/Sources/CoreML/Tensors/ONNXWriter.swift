import Kelvin

/// A message of Protocol Buffers. Reference: protobuf.dev, "Encoding".
struct ProtobufMessage {
  private(set) var bytes: [UInt8] = []

  private mutating func append(varint value: Int) {
    var rest = UInt64(bitPattern: Int64(value))
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  mutating func append(_ field: Int, _ value: Int) {
    append(varint: field << 3)
    append(varint: value)
  }

  mutating func append(_ field: Int, _ contents: some Collection<UInt8>) {
    append(varint: field << 3 | 2)
    append(varint: contents.count)
    bytes += contents
  }

  mutating func append(_ field: Int, _ string: String) { append(field, string.utf8) }
  mutating func append(_ field: Int, _ message: ProtobufMessage) { append(field, message.bytes) }

  mutating func append(_ field: Int, _ build: (inout ProtobufMessage) -> Void) {
    var message = ProtobufMessage()
    build(&message)
    append(field, message)
  }
}

/// An ONNX model in memory. Reference: github.com/onnx/onnx, `onnx/onnx.proto`, whose field numbers the calls give.
struct ONNXWriter {
  /// The version of the standard operator set, which has `CumProd`.
  private static let operatorSet = 26
  private static let formatVersion = 12

  private var graph = ProtobufMessage()

  private static let elementTypes: [MultiArrayDataType: Int] = [
    .float32: 1, .uint8: 2, .int8: 3, .uint16: 4, .int16: 5, .int32: 6, .int64: 7, .bool: 9, .float16: 10, .float64: 11,
    .uint32: 12, .uint64: 13,
  ]

  /// The format's number of an element type.
  static func elementType(_ type: MultiArrayDataType) -> Int { elementTypes[type]! }

  /// Adds the values that are inputs and outputs of the model.
  mutating func addInput(_ name: String, _ shape: [Int], _ type: MultiArrayDataType) { addValue(11, name, shape, type) }
  mutating func addOutput(_ name: String, _ shape: [Int], _ type: MultiArrayDataType) {
    addValue(12, name, shape, type)
  }

  private mutating func addValue(_ field: Int, _ name: String, _ shape: [Int], _ type: MultiArrayDataType) {
    graph.append(field) { value in
      value.append(1, name)
      value.append(2) { kind in
        kind.append(1) { tensor in
          tensor.append(1, Self.elementType(type))
          tensor.append(2) { sizes in
            for size in shape { sizes.append(1) { $0.append(1, size) } }
          }
        }
      }
    }
  }

  /// Adds a constant whose elements are in row-major order.
  mutating func addConstant(_ name: String, _ shape: [Int], _ type: MultiArrayDataType, _ bytes: some Collection<UInt8>)
  {
    graph.append(5) { tensor in
      for size in shape { tensor.append(1, size) }
      tensor.append(2, Self.elementType(type))
      tensor.append(8, name)
      tensor.append(9, bytes)
    }
  }

  /// Adds an operator. An empty name is an omitted input or an unused output.
  mutating func addNode(
    _ kind: String, inputs: [String], outputs: [String], _ attributes: KeyValuePairs<String, TensorOperation.Attribute>
  ) {
    graph.append(1) { node in
      for name in inputs { node.append(1, name) }
      for name in outputs { node.append(2, name) }
      node.append(4, kind)
      for (name, value) in attributes {
        node.append(5) { attribute in
          attribute.append(1, name)
          switch value {
          case .integer(let integer):
            attribute.append(3, integer)
            attribute.append(20, 2)
          case .string(let string):
            attribute.append(4, string)
            attribute.append(20, 3)
          case .integers(let integers):
            for integer in integers { attribute.append(8, integer) }
            attribute.append(20, 7)
          }
        }
      }
    }
  }

  /// The model's bytes. Equal calls give equal bytes.
  var model: [UInt8] {
    var (model, graph) = (ProtobufMessage(), graph)
    graph.append(2, "tensors")
    model.append(1, Self.formatVersion)
    model.append(7, graph)
    model.append(8) { $0.append(2, Self.operatorSet) }
    return model.bytes
  }
}
