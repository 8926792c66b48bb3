import FoundationEssentials
import Glibc

/// A small convolutional network as an ONNX file, of any batch size, height and width: `x` float32 [n, 3, h, w] to `y`
/// float32 [n, 10]. Written field by field; reference: onnx.proto of the ONNX repository.
package enum FlexibleNetwork {
  /// The file, written when it is first used and removed when the process ends.
  package static let path: String = {
    let name = "kelvin-flexible-\(ProcessInfo.processInfo.processIdentifier).onnx"
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    do { try Data(model()).write(to: url) } catch { preconditionFailure("\(url.path) cannot be written: \(error)") }
    atexit { try? FileManager.default.removeItem(atPath: FlexibleNetwork.path) }
    return url.path
  }()

  private static func model() -> [UInt8] {
    let pads = field(1, "pads") + field(20, 7) + (0..<4).flatMap { _ in field(8, 1) }
    let nodes = [
      node("Conv", ["x", "w1"], "c1", pads),
      node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], "b1"),
      node("Relu", ["b1"], "r1"), node("Conv", ["r1", "w2", "bias2"], "c2", pads), node("Relu", ["c2"], "r2"),
      node("GlobalAveragePool", ["r2"], "p"), node("Flatten", ["p"], "f"), node("Gemm", ["f", "w3", "bias3"], "y"),
    ]
    let weights = [
      weight("w1", [32, 3, 3, 3], 0.3), weight("scale", [32], 1), weight("shift", [32], 0.5), weight("mean", [32], 0.5),
      weight("variance", [32], 0.25, offset: 1), weight("w2", [64, 32, 3, 3], 0.1), weight("bias2", [64], 0.5),
      weight("w3", [64, 10], 0.3), weight("bias3", [10], 1),
    ]
    var graph = nodes.flatMap { field(1, $0) }
    graph += field(2, "flexible")
    graph += weights.flatMap { $0 }
    graph += field(11, value("x", [field(2, "n"), field(1, 3), field(2, "h"), field(2, "w")]))
    graph += field(12, value("y", [field(2, "n"), field(1, 10)]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17))
  }

  static func node(_ kind: String, _ inputs: [String], _ output: String, _ attributes: [UInt8]...) -> [UInt8] {
    inputs.flatMap { field(1, $0) } + field(2, output) + field(3, "node of \(output)") + field(4, kind)
      + attributes.flatMap { field(5, $0) }
  }

  /// Numbers that look random, in `offset - range ... offset + range`.
  static func weight(_ name: String, _ shape: [UInt64], _ range: Float, offset: Float = 0) -> [UInt8] {
    let count = Int(shape.reduce(1, *))
    let values = (0..<count).map { offset + range * (Float(($0 &* 2_654_435_761) % 2001) / 1000 - 1) }
    return field(
      5,
      shape.flatMap { field(1, $0) } + field(2, 1) + field(8, name) + field(9, values.withUnsafeBytes { Array($0) }))
  }

  static func value(_ name: String, _ dimensions: [[UInt8]]) -> [UInt8] {
    field(1, name) + field(2, field(1, field(1, 1) + field(2, dimensions.flatMap { field(1, $0) })))
  }

  static func field(_ number: Int, _ value: UInt64) -> [UInt8] { varint(UInt64(number) << 3) + varint(value) }
  static func field(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
  static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
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
