import KelvinEngine
import KelvinImport
import TestSupport

/// A `.mlmodelc` whose parts a test replaces or leaves out.
struct CompiledFolder {
  var text: String? = Self.convolution
  var metadata: String?
  var weights: [UInt8]? = Self.identity.bytes

  func write(_ folder: TemporaryFolder) -> String {
    if let text { folder.write(text, "m.mlmodelc/model.mil") }
    if let metadata { folder.write(metadata, "m.mlmodelc/metadata.json") }
    if let weights { folder.write(weights, "m.mlmodelc/weights/weight.bin") }
    return "\(folder.path)/m.mlmodelc"
  }

  /// The error that reading the folder and building its graph ends in.
  func error() throws -> FormatError? {
    let folder = TemporaryFolder()
    let path = write(folder)
    do {
      _ = try readModel(at: path).graph()
      return nil
    } catch let error as FormatError { return error }
  }

  /// The rows 1 0, 0 1 and 1 −1.
  private static let identity: WeightFile = {
    var file = WeightFile()
    _ = file.add(type: 2, littleEndian([1, 0, 0, 1, 1, -1]))
    return file
  }()

  /// As compilers up to iOS 17's write: every scalar is a tensor without axes.
  static let convolution = #"""
    program(1.0)
    [buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremlc-version", "3304.6.2"}, {"note", "a \"}\" b"}})]
    {
        func main<ios16>(tensor<fp32, [1, 2, 2, 2]> x) {
                tensor<string, []> type = const()[name = tensor<string, []>("type"), val = tensor<string, []>("valid")];
                tensor<int32, [2]> ones = const()[name = tensor<string, []>("ones"), val = tensor<int32, [2]>([1, 1])];
                tensor<int32, [4]> pad = const()[name = tensor<string, []>("pad"), val = tensor<int32, [4]>([0, 0, 0, 0])];
                tensor<int32, []> one = const()[name = tensor<string, []>("one"), val = tensor<int32, []>(1)];
                tensor<fp32, [3, 2, 1, 1]> w = const()[name = tensor<string, []>("w"), val = tensor<fp32, [3, 2, 1, 1]>(BLOBFILE(path = tensor<string, []>("@model_path/weights/weight.bin"), offset = tensor<uint64, []>(64)))];
                tensor<fp32, [3]> b = const()[name = tensor<string, []>("b"), val = tensor<fp32, [3]>([0x1p-1, -0x1.8p+1, 2])];
                tensor<fp32, [1, 3, 2, 2]> y = conv(bias = b, dilations = ones, groups = one, pad = pad, pad_type = type, strides = ones, weight = w, x = x)[name = tensor<string, []>("the \"product\"")];
                tensor<fp32, [1, 3, 2, 2]> z = relu(x = y)[name = tensor<string, []>("z")];
            } -> (z);
    }
    """#
}
