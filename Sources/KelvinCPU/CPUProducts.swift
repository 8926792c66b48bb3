import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The kernels that multiply operands of one type: float32, float32 rounded to bfloat16 or float16, or tiles of
/// bfloat16.
struct CPUProducts: @unchecked Sendable {
  let type: ck_operands
  let kernels: ck_product_kernels

  /// The name of the type in layouts of packed operands.
  var name: String {
    switch type {
    case ck_operands_float32: "f32"
    case ck_operands_bfloat16: "bf16"
    case ck_operands_float16: "f16"
    default: "tiles"
    }
  }

  var precision: Precision { type == ck_operands_float32 ? .full : .low }

  /// The rows of a panel of packed rows.
  var panel: Int { ck_packed_panel(type) }

  /// The rows, and the packed columns, that a product computes together.
  var tile: (rows: Int, columns: Int) {
    type == ck_operands_tiles
      ? (2 * Int(ck_tile_rows), 2 * Int(ck_tile_rows)) : (Int(ck_gemm_rows), Int(ck_gemm_packed_width))
  }

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
    guard let kernels = kernels.products.1, isFaster("bfloat16") else { return nil }
    return CPUProducts(type: ck_operands_bfloat16, kernels: kernels.pointee)
  }

  /// The products of float16, if the processor supports them and, with `measuresUnits`, if they are faster than others
  /// of vectors. Their kernels multiply rows.
  var halfProducts: CPUProducts? {
    guard sgemm == nil, let halves, isFaster("float16", than: ["bfloat16"]) else { return nil }
    return CPUProducts(type: ck_operands_float16, kernels: halves.pointee)
  }

  /// The products of tiles, if the variant uses them and, with `measuresUnits`, if they are the fastest.
  var tileProducts: CPUProducts? {
    guard sgemm == nil, let kernels = tiles?.kernels?.products,
      isFaster("bfloat16 tiles", than: ["bfloat16", "float16"])
    else { return nil }
    return CPUProducts(type: ck_operands_tiles, kernels: kernels)
  }

  /// Whether the unit for these operands is to be used: with `measuresUnits`, if it is measured to be faster than
  /// float32 and than other units.
  private func isFaster(_ operands: String, than others: [String] = []) -> Bool {
    guard measuresUnits else { return true }
    let units = CPUUnits.measured
    return units.speedup(of: operands) > others.map(units.speedup(of:)).reduce(1, max)
  }

  /// How many times as fast as float32 the fastest products at precision `.low` are.
  var roundedSpeedup: Double {
    let units = CPUUnits.measured
    if tileProducts != nil { return units.speedup(of: "bfloat16 tiles") }
    if halfProducts != nil { return units.speedup(of: "float16") }
    return roundedProducts == nil ? 1 : units.speedup(of: "bfloat16")
  }
}

extension CPUContext {
  /// The fastest products of vectors that the requested precision allows, but for those of rows alone.
  var products: CPUProducts {
    request.precision == .low ? variant.roundedProducts ?? variant.products : variant.products
  }

  /// Returns the products of tiles, if they are the fastest that the requested precision allows for operands of this
  /// depth.
  func tileProducts(depth: Int) -> CPUProducts? {
    // Half a tile and less is mostly padding.
    guard request.precision == .low, !variant.measuresUnits || depth > Int(ck_tile_words) else { return nil }
    return variant.tileProducts
  }

  /// Returns the fastest products of rows of this depth with constant weights.
  func rowProducts(depth: Int) -> CPUProducts {
    tileProducts(depth: depth) ?? (request.precision == .low ? variant.halfProducts : nil) ?? products
  }
}
