package import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// Compares the kernels of an instruction set with the portable kernels on this processor. Some kernels were written
/// without access to a processor that has their instructions, so they are checked before their first use.
package enum VariantCheck {
  /// Returns the first of a few small nodes whose results differ, and the difference; nil if all agree. Kernels that
  /// round operands are checked with rounding too.
  package static func fault(of kernels: UnsafePointer<ck_kernels>) -> String? {
    guard let plain = CPUVariant.all.last else { return nil }
    let suspect = CPUVariant(table: kernels, sgemm: nil)
    do {
      for example in try VariantExample.all() {
        let wanted = try example.run(on: CPUDevice(CPUKernels(variant: plain, prefersBlocks: false)), .full)
        for (variant, prefersBlocks, precision) in implementations(of: suspect, through: example) {
          let device = CPUDevice(CPUKernels(variant: variant, prefersBlocks: prefersBlocks))
          if let fault = try fault(of: device, in: example, wanted, precision) { return fault }
        }
      }
    } catch {
      return "\(error)"
    }
    let faultOfHalves = suspect.halves.flatMap { TileCheck.fault(ofHalves: $0.pointee) }
    return faultOfHalves ?? faultOfFunction(suspect, plain) ?? faultOfCast(suspect, plain)
  }

  /// Returns the variants, layouts and precisions that together select each kernel for some node.
  private static func implementations(
    of variant: CPUVariant, through example: VariantExample
  ) -> [(variant: CPUVariant, prefersBlocks: Bool, precision: Precision)] {
    var implementations = [(variant, false, Precision.full)]
    if example.onBlocks, variant.hasBlocks { implementations.append((variant, true, .full)) }
    guard example.rounds else { return implementations }
    if variant.halves != nil { implementations.append((variant, false, .low)) }
    var others = variant
    others.halves = nil
    if others.roundedProducts != nil { implementations.append((others, false, .low)) }
    return implementations
  }

  private static func fault(
    of device: CPUDevice, in example: VariantExample, _ wanted: [[Double]], _ precision: Precision
  ) throws(DeviceError) -> String? {
    for (node, (got, wanted)) in zip(example.graph.nodes, zip(try example.run(on: device, precision), wanted)) {
      let rounds = device.effectivePrecision(precision, of: node, in: example.graph) == .low
      let tolerance = example.tolerance(of: node, rounds: rounds)
      if let difference = NodeExample.difference(of: got, from: wanted, tolerance) {
        return "\(node.op.name)\(rounds ? " of rounded operands" : ""): \(difference)"
      }
    }
    return nil
  }

  /// Returns a fault of the functions of one element, which are called from many kernels.
  private static func faultOfFunction(_ variant: CPUVariant, _ plain: CPUVariant) -> String? {
    let x = (0..<37).map { Float(($0 * 7) % 17 - 8) / 8 }
    func values(_ map: ck_map) -> [Double] {
      var y = [Float](repeating: .nan, count: x.count)
      map(x, &y, x.count, 0.25, 0.5)
      return y.map(Double.init)
    }
    for kind in UnaryFunction.Kind.allCases where kind != .logicalNot {
      let function = UnaryFunction(kind, a: 0.25, b: 0.5)
      guard let map = variant.map(function), let plainMap = plain.map(function) else { return "\(kind) is missing" }
      let tolerance = Unary(function).tolerance(.full, [TensorType(.float32, [x.count])])
      if let difference = NodeExample.difference(of: values(map), from: values(plainMap), tolerance) {
        return "\(kind): \(difference)"
      }
    }
    return nil
  }

  /// Returns a fault of the conversions between types, on numbers around the bounds of each type. All results are exact.
  private static func faultOfCast(_ variant: CPUVariant, _ plain: CPUVariant) -> String? {
    let bounds = [0x1p7, 0x1p8, 0x1p15, 0x1p16, 0x1p31, 0x1p32, 0x1p63, 0x1p64, .infinity, 3e38, 1e-40]
    let numbers = ([0, .nan] + bounds + bounds.map { $0 - 0.5 }).flatMap { [$0, -$0] }
    let types = ScalarType.allCases.filter { $0 != .float16 }
    for from in types {
      let x = Tensor(TensorType(from, [numbers.count]), rounding: numbers)
      for to in types where to != from {
        func bytes(_ variant: CPUVariant) -> [UInt8] {
          var y = [UInt8](repeating: 0xA5, count: numbers.count * to.byteCount)
          x.bytes.withUnsafeBytes { x in
            y.withUnsafeMutableBytes { y in
              var arguments = ck_cast_args(
                x: x.baseAddress, y: y.baseAddress, from: from.innerCode, to: to.innerCode, count: numbers.count)
              variant.kernels.cast(&arguments, 0, 1, nil)
            }
          }
          return y
        }
        let (got, wanted) = (bytes(variant), bytes(plain))
        if let byte = got.indices.first(where: { got[$0] != wanted[$0] }) {
          return "cast of \(numbers[byte / to.byteCount]) from \(from) to \(to): not the portable kernels' result"
        }
      }
    }
    return nil
  }
}
