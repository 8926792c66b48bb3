/// Field numbers of ONNX's messages that copies and sizes are made from (onnx.proto of onnx 1.23).
enum ONNXFields {
  enum Model { static let graph = 7, opsetImport = 8, functions = 25 }
  enum OperatorSet { static let domain = 1, version = 2 }
  enum Function { static let node = 7 }
  enum Graph { static let node = 1, initializer = 5, input = 11, sparseInitializer = 15 }
  enum Node { static let input = 1, output = 2, name = 3, type = 4, attribute = 5, domain = 7 }
  enum Attribute {
    static let name = 1, integer = 3, tensor = 5, graph = 6, tensors = 10, graphs = 11, type = 20, sparseTensor = 22
  }
  enum Tensor {
    static let dims = 1, dataType = 2, floatData = 4, name = 8, rawData = 9, externalData = 13, dataLocation = 14
    /// The lists of elements: of 32-bit floats and integers, strings, 64-bit integers, bytes, doubles, and 64-bit
    /// integers without signs.
    static let elements: Set<Int> = [4, 5, 6, 7, 9, 10, 11]
  }
  enum SparseTensor { static let values = 1, indices = 2, dims = 3 }
  enum Entry { static let key = 1, value = 2 }
  enum ValueInfo { static let name = 1 }
  /// Element types.
  static let (float, uint8, int8, float16) = (1, 2, 3, 10)
  /// The type of an attribute with an integer.
  static let integerAttribute = 2
}
