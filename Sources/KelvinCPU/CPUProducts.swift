import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The kernels that multiply operands of one type: float32, or float32 rounded to bfloat16.
struct CPUProducts: @unchecked Sendable {
  let type: ck_operands
  let kernels: ck_product_kernels

  /// The name of the type in layouts of packed operands.
  var name: String { type == ck_operands_bfloat16 ? "bf16" : "f32" }

  var precision: Precision { type == ck_operands_bfloat16 ? .low : .full }

  /// Returns the number of 32-bit words that `numbers` numbers take.
  func words(_ numbers: Int) -> Int { ck_packed_count(type, numbers) }
}

extension CPUVariant {
  /// The products of float32.
  var products: CPUProducts {
    CPUProducts(type: ck_operands_float32, kernels: kernels.products.0?.pointee ?? ck_product_kernels())
  }

  /// The products of bfloat16, if the processor supports them and, with `measuresUnits`, if they are faster.
  var roundedProducts: CPUProducts? {
    guard let kernels = kernels.products.1, !measuresUnits || CPUUnits.measured.bfloat16Speedup > 1 else { return nil }
    return CPUProducts(type: ck_operands_bfloat16, kernels: kernels.pointee)
  }
}

extension CPUContext {
  /// The fastest products that the requested precision allows.
  var products: CPUProducts {
    request.precision == .low ? variant.roundedProducts ?? variant.products : variant.products
  }
}
