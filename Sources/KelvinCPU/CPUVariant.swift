import CKelvinDrivers
import CKelvinKernels

/// The kernels of one instruction set, and the library that takes over its matrix products, if any.
struct CPUVariant: @unchecked Sendable {
  private let table: UnsafePointer<ck_kernels>
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
}
