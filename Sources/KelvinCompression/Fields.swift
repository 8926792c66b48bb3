/// Field numbers of Core ML's messages that compression reads and writes (coremltools' Model.proto and MIL.proto).
enum Fields {
  enum Model {
    static let specificationVersion = 1, description = 2, pipelineClassifier = 200, pipelineRegressor = 201,
      pipeline = 202,
      neuralNetworkRegressor = 303, neuralNetworkClassifier = 403, neuralNetwork = 500, mlProgram = 502
  }
  enum ModelDescription { static let output = 10 }
  enum FeatureDescription { static let name = 1, type = 3 }
  enum FeatureType { static let multiArrayType = 5 }
  enum ArrayFeatureType { static let shape = 1, dataType = 2, float16 = 65552, float32 = 65568 }
  enum Program { static let functions = 2 }
  enum Function { static let opset = 2, blockSpecializations = 3 }
  enum Block { static let outputs = 2, operations = 3 }
  enum Operation { static let type = 1, inputs = 2, outputs = 3, blocks = 4, attributes = 5 }
  enum Argument { static let arguments = 1 }
  enum Binding { static let name = 1, value = 2 }
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

/// The set of operators of a function, such as `CoreML6` of iOS 16.
struct OperatorSet {
  static let (ios16, ios18) = (6, 8)
  static let ios18Name = "CoreML8"

  let name: String
  /// The number in the name, at most 99; nil for other sets.
  var number: Int? { name.hasPrefix("CoreML") ? Int(name.dropFirst(6)).map { max(0, min($0, 99)) } : nil }

  init(_ name: String) { self.name = name }
}

/// Element types: their numbers in programs, and in weight files.
enum ElementType: Int {
  case string = 2
  case float16 = 10
  case float32 = 11
  case int8 = 21
  case int32 = 23
  case int4 = 25
  case uint8 = 31
  case uint32 = 33
  case uint4 = 35
  case uint2 = 36
  case uint1 = 37
  case uint6 = 38
  case uint3 = 39

  /// The unsigned type with a number of bits; nil if there is none.
  init?(unsignedBits bits: Int) {
    let types: [Int: ElementType] = [1: .uint1, 2: .uint2, 3: .uint3, 4: .uint4, 6: .uint6, 8: .uint8]
    guard let type = types[bits] else { return nil }
    self = type
  }

  /// The number in weight files; 0 for types that are never there.
  var blobNumber: UInt32 {
    switch self {
    case .float16: 1
    case .float32: 2
    case .uint8: 3
    case .int8: 4
    case .int4: 8
    case .uint1: 9
    case .uint2: 10
    case .uint4: 11
    case .uint3: 12
    case .uint6: 13
    case .string, .int32, .uint32: 0
    }
  }

  /// Bits per element.
  var bits: Int {
    switch self {
    case .uint1: 1
    case .uint2: 2
    case .uint3: 3
    case .int4, .uint4: 4
    case .uint6: 6
    case .int8, .uint8, .string: 8
    case .float16: 16
    case .float32, .int32, .uint32: 32
    }
  }

  /// Bytes per element of a type with whole bytes.
  var byteCount: Int { bits / 8 }
}

/// Field numbers of Core ML's messages that sizes are read from (NeuralNetwork.proto).
extension Fields {
  enum Pipeline { static let models = 1 }
  enum NestedPipeline { static let pipeline = 1 }
  enum NeuralNetwork { static let layers = 1 }
  enum Layer { static let name = 1 }
  enum WeightParams { static let floatValue = 1, float16Value = 2, rawValue = 30, int8RawValue = 31, quantization = 40 }
  enum QuantizationParams { static let numberOfBits = 1, lookupTable = 102 }
}
