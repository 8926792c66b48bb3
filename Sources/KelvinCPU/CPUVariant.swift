import CKelvinKernels
import CKelvinSupport

/// The kernels of one instruction set, and the library that computes its matrix products, if any.
struct CPUVariant: @unchecked Sendable {
  let table: UnsafePointer<ck_kernels>
  /// The function of OpenBLAS, if it is expected to be faster than Kelvin's kernels.
  let sgemm: ck_sgemm?
  /// Whether products round their operands only where the unit for rounded operands is measured to be faster
  /// (`CPUUnits`). Otherwise they always do at precision `.low`, so that tests reach these kernels.
  var measuresUnits = false
  /// The kernels of float16 that products of rows at precision `.low` may use: the table's, or emulated ones in tests.
  var halves: UnsafePointer<ck_product_kernels>?
  /// The kernels of tiles that products at precision `.low` may use.
  var tiles: CPUTiles?

  init(table: UnsafePointer<ck_kernels>, sgemm: ck_sgemm?) {
    (self.table, self.sgemm) = (table, sgemm)
    halves = table.pointee.products.2
  }

  var kernels: ck_kernels { table.pointee }
  var name: String { (sgemm == nil ? "" : "openblas+") + String(cString: table.pointee.name) }

  /// The instruction set, and the version of OpenBLAS if it is installed.
  var description: String {
    let isa = String(cString: table.pointee.name)
    guard let blas = kd_blas_load() else { return isa }
    return "\(isa) + OpenBLAS \(String(cString: blas.pointee.version))"
  }

  /// The variants that this host can run, best first. OpenBLAS comes directly before the portable kernels.
  static let all: [CPUVariant] = {
    var count = 0
    guard let first = ck_variants(&count) else { return [] }
    var variants: [CPUVariant] = []
    for index in 0..<count {
      guard let table = first[index] else { continue }
      if index == count - 1, let blas = kd_blas_load() {
        variants.append(CPUVariant(table: table, sgemm: blas.pointee.sgemm))
      }
      variants.append(CPUVariant(table: table, sgemm: nil))
    }
    return variants
  }()

  /// The index in `all` of the best variant whose results agree with the portable kernels, and the faults of better
  /// ones.
  static let best: (index: Int, faults: [String]) = {
    var faults: [String] = []
    for (index, variant) in all.enumerated() where variant.sgemm == nil && index < all.count - 1 {
      guard let fault = VariantCheck.fault(of: variant.table) else { return (index, faults) }
      faults.append("\(variant.name) is off: \(fault)")
    }
    return (max(0, all.firstIndex { $0.sgemm != nil } ?? all.count - 1), faults)
  }()
}
