import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The kernels that multiply operands of one type: float32, or float32 rounded to bfloat16.
struct CPUProducts: @unchecked Sendable {
  let type: ck_operands
  let kernels: ck_product_kernels

  /// Names the type in layouts of packed operands.
  var name: String { type == ck_operands_bfloat16 ? "bf16" : "f32" }

  var precision: Precision { type == ck_operands_bfloat16 ? .low : .full }

  /// Words of 32 bits that so many numbers take.
  func words(_ numbers: Int) -> Int { ck_packed_count(type, numbers) }
}

extension CPUVariant {
  /// Of float32.
  var products: CPUProducts {
    CPUProducts(type: ck_operands_float32, kernels: kernels.products.0?.pointee ?? ck_product_kernels())
  }

  /// Of bfloat16, where the processor multiplies such.
  var roundedProducts: CPUProducts? {
    kernels.products.1.map { CPUProducts(type: ck_operands_bfloat16, kernels: $0.pointee) }
  }
}

extension CPUContext {
  /// Those that the precision asked for allows and this processor is fastest with.
  var products: CPUProducts {
    request.precision == .low ? variant.roundedProducts ?? variant.products : variant.products
  }
}
