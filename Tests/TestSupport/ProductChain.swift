import Foundation

/// A chain of products with constant matrices of 256 KiB as an ONNX file: the input "x" [2, 256], the output "y".
package enum ProductChain {
  package static let count = 24
  package static let shape = [2, width]
  package static let weightBytes = width * width * 4
  private static let width = 256

  /// Returns the file of a chain of products with square matrices.
  package static func model(count: Int = count, width: Int = width) -> [UInt8] {
    typealias Bytes = FlexibleNetwork
    let names = ["x"] + (1..<count).map { "y\($0)" } + ["y"]
    let size = UInt64(width)
    var graph = (0..<count).flatMap { Bytes.field(1, Bytes.node("Gemm", [names[$0], "w\($0)"], names[$0 + 1])) }
    graph += Bytes.field(2, "products")
    for index in 0..<count { graph += Bytes.weight("w\(index)", [size, size], 0.1) }
    graph += Bytes.field(11, Bytes.value("x", [Bytes.field(1, 2), Bytes.field(1, size)]))
    graph += Bytes.field(12, Bytes.value("y", [Bytes.field(1, 2), Bytes.field(1, size)]))
    return Bytes.field(1, 8) + Bytes.field(7, graph) + Bytes.field(8, Bytes.field(1, "") + Bytes.field(2, 17))
  }

  /// The file, written when it is first used and removed when the process ends.
  package static let path: String = {
    let name = "kelvin-products-\(ProcessInfo.processInfo.processIdentifier).onnx"
    let url = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    do { try Data(model()).write(to: url) } catch { preconditionFailure("\(url.path) cannot be written: \(error)") }
    atexit { try? FileManager.default.removeItem(atPath: ProductChain.path) }
    return url.path
  }()
}
