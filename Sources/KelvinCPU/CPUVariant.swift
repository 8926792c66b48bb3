import CKelvinSupport
import CKelvinKernels

/// The kernels of one instruction set, and the library that takes over its matrix products, if any.
struct CPUVariant: @unchecked Sendable {
  let table: UnsafePointer<ck_kernels>
  /// Present where OpenBLAS is expected to be faster than kernels of our own.
  let sgemm: ck_sgemm?

  var kernels: ck_kernels { table.pointee }
  var name: String { (sgemm == nil ? "" : "openblas+") + String(cString: table.pointee.name) }

  /// What computes, and the version of OpenBLAS wherever it is installed.
  var description: String {
    let isa = String(cString: table.pointee.name)
    guard let blas = kd_blas_load() else { return isa }
    return "\(isa) + OpenBLAS \(String(cString: blas.pointee.version))"
  }

  /// What this host can run, best first. Where nothing but the portable kernels fits, OpenBLAS comes before them.
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

  /// Of `all`, the best whose kernels compute on this processor what plain C does, and what is wrong with those before it.
  static let best: (index: Int, faults: [String]) = {
    var faults: [String] = []
    for (index, variant) in all.enumerated() where variant.sgemm == nil && index < all.count - 1 {
      guard let fault = VariantCheck.fault(of: variant.table) else { return (index, faults) }
      faults.append("\(variant.name) is off: \(fault)")
    }
    return (max(0, all.firstIndex { $0.sgemm != nil } ?? all.count - 1), faults)
  }()
}
