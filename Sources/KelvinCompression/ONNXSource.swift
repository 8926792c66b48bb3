import KelvinBasics
import KelvinGraph
import KelvinImport

/// An ONNX model and its files.
struct ONNXSource: CompressibleSource {
  private let weights: ONNXWeights
  var tensors: [StoredTensor] { weights.tensors }
  var system: Int? { nil }

  init(_ path: String, allowsLinks: Bool) throws(FormatError) {
    let bytes: Bytes
    do throws(FileError) { bytes = try Bytes(mapping: path) } catch { throw FormatError(error) }
    weights = try ONNXWeights(
      WireMessage(bytes, file: path.lastPathPart), ModelFiles(folder: path.parentPath, allowsLinks: allowsLinks))
  }

  func candidates(system: Int) -> [WeightForm] {
    WeightForm.portable.filter { $0 != .int8 || weights.opset >= ONNXWeights.int8Opset }
  }

  func elements(_ tensor: StoredTensor) -> WeightElements {
    let isHalf = tensor.type == .float16
    guard isTransposed(tensor) else { return WeightElements(tensor.values, tensor.shape, isHalf: isHalf) }
    return WeightElements(
      ONNXWriter.transposed(tensor.values, tensor.shape), [tensor.shape[1], tensor.shape[0]], isHalf: isHalf)
  }

  private func isTransposed(_ tensor: StoredTensor) -> Bool { weights.uses[tensor.record]?.isTransposed ?? false }

  func takes(_ form: WeightForm, _ tensor: StoredTensor) -> Bool {
    guard form.pruning == nil else { return false }
    switch form.numbers {
    case .original: return true
    case .float16: return tensor.type == .float32
    case .palette: return false
    case .integers(let integers):
      guard let block = integers.blockSize else { return integers.bits == 8 }
      // MatMulNBits takes blocks of powers of two from 16.
      return integers.bits == 4 && block >= 16 && block.nonzeroBitCount == 1
        && weights.uses[tensor.record]?.isProduct ?? false && tensor.shape[0] % block == 0
    }
  }

  func byteCount(_ tensor: StoredTensor) -> Int { tensor.byteCount }

  func byteCount(_ weight: CompressedWeight, _ form: WeightForm, _ tensor: StoredTensor) -> Int {
    switch weight.code {
    case .half(let bits): 2 * bits.count
    case .integers(let code): (code.values.count * code.bits + 7) / 8 + code.scales.count * tensor.type.byteCount
    case .dense, .palette, .sparse: tensor.byteCount
    }
  }

  func copy(_ forms: [Int: (form: WeightForm, weight: CompressedWeight)]) throws(FormatError) -> ModelCopy {
    ModelCopy(model: try ONNXWriter(weights, codes: forms.mapValues(\.weight)).model(), weights: nil)
  }
}
