/// Field numbers of Core ML's messages that compression reads and writes (coremltools' Model.proto and MIL.proto).
enum Fields {
  enum Model { static let specificationVersion = 1, mlProgram = 502 }
  enum Program { static let functions = 2 }
  enum Function { static let opset = 2, blockSpecializations = 3 }
  enum Block { static let operations = 3 }
  enum Operation { static let type = 1, inputs = 2, outputs = 3, blocks = 4, attributes = 5 }
  enum Argument { static let arguments = 1, value = 2 }
  enum NamedValueType { static let name = 1, type = 2 }
  enum ValueType { static let tensorType = 1 }
  enum TensorType { static let dataType = 1, rank = 2, dimensions = 3 }
  enum Dimension { static let constant = 1, size = 1 }
  enum Value { static let type = 2, immediateValue = 3, blobFileValue = 5 }
  enum ImmediateValue { static let tensor = 1 }
  enum TensorValue { static let ints = 2, strings = 4, bytes = 7, values = 1 }
  enum BlobFileValue { static let fileName = 1, offset = 2 }
  enum MapEntry { static let key = 1, value = 2 }
}

/// Element types: their numbers in programs, and in weight files.
enum ElementType: Int {
  case string = 2
  case float16 = 10
  case float32 = 11
  case int8 = 21
  case int32 = 23
  case uint8 = 31
  case uint32 = 33

  /// The number in weight files.
  var blobNumber: UInt32 {
    switch self {
    case .float16: 1
    case .float32: 2
    case .uint8: 3
    case .int8: 4
    case .string, .int32, .uint32: 0
    }
  }

  /// Bytes per element.
  var byteCount: Int {
    switch self {
    case .float16: 2
    case .float32, .int32, .uint32: 4
    case .int8, .uint8, .string: 1
    }
  }
}
