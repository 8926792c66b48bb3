import CKelvinKernels
package import KelvinDevices

/// The units of the processor that multiply and add vectors or tiles.
package struct CPUUnits: Sendable {
  package let rates: [ProductRate]

  /// The rates on this processor. Each process measures them when they are first needed, because reading a file would
  /// take as long.
  package static let measured: CPUUnits = {
    var rates = [Double](repeating: 0, count: Int(ck_units.rawValue))
    ck_measure_units(&rates)
    return CPUUnits(
      zip(["float32", "bfloat16", "float16", "int8", "bfloat16 tiles", "int8 tiles"], rates).filter { $0.1 > 0 }
        .map { ProductRate(operands: $0.0, operationsPerSecond: $0.1) })
  }()

  package init(_ rates: [ProductRate]) { self.rates = rates }

  /// Returns how many times as fast as float32 the unit for these operands is; 0 if there is none.
  package func speedup(of operands: String) -> Double {
    func rate(_ operands: String) -> Double {
      rates.first { $0.operands == operands }?.operationsPerSecond ?? 0
    }
    return rate("float32") > 0 ? rate(operands) / rate("float32") : 0
  }
}
