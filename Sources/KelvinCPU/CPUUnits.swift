import CKelvinKernels
package import KelvinDevices
import KelvinGraph
import Synchronization

/// The units of the processor that multiply and add vectors or tiles.
package struct CPUUnits: Sendable {
  package let rates: [ProductRate]

  private static let names = ["float32", "bfloat16", "float16", "int8", "bfloat16 tiles", "int8 tiles"]

  private struct State {
    var units: CPUUnits?
    var blobs: (any BlobCache)?
  }
  private static let state = Mutex(State())

  /// The rates on this processor. They are measured when they are first needed, unless `recall` knows those of an
  /// earlier process.
  package static var measured: CPUUnits {
    state.withLock { state in
      if let units = state.units { return units }
      let key = "product rates, tiles \(ck_request_tiles().rawValue)"
      if let kept = state.blobs.flatMap({ CPUUnits(keptIn: $0, key) }) {
        state.units = kept
        return kept
      }
      let units = measure()
      state.blobs.map { units.keep(in: $0, key) }
      state.units = units
      return units
    }
  }

  /// Sets where rates are kept: a cache of this version of Kelvin and this processor. No effect once they are known.
  package static func recall(_ blobs: any BlobCache) { state.withLock { $0.blobs = blobs } }

  private static func measure() -> CPUUnits {
    var rates = [Double](repeating: 0, count: Int(ck_units.rawValue))
    ck_measure_units(&rates)
    return CPUUnits(
      zip(names, rates).filter { $0.1 > 0 }.map { ProductRate(operands: $0.0, operationsPerSecond: $0.1) })
  }

  package init(_ rates: [ProductRate]) { self.rates = rates }

  /// Returns the rates that `keep` stored; nil if there are none, or if they are damaged.
  package init?(keptIn blobs: any BlobCache, _ key: String) {
    guard let text = blobs.blob(key).flatMap({ CheckedBlob.payload(of: $0, origin: Digest(key)) }) else { return nil }
    var rates: [ProductRate] = []
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 2, Self.names.contains(parts[0]), let rate = Double(parts[1]), rate > 0, rate.isFinite else {
        return nil
      }
      rates.append(ProductRate(operands: parts[0], operationsPerSecond: rate))
    }
    self.rates = rates
  }

  package func keep(in blobs: any BlobCache, _ key: String) {
    let text = rates.map { "\($0.operands)\t\($0.operationsPerSecond)\n" }.joined()
    CheckedBlob.encoded(Array(text.utf8), origin: Digest(key)).withUnsafeBytes { blobs.store(key, $0) }
  }

  /// Returns how many times as fast as float32 the unit for these operands is; 0 if there is none.
  package func speedup(of operands: String) -> Double {
    func rate(_ operands: String) -> Double {
      rates.first { $0.operands == operands }?.operationsPerSecond ?? 0
    }
    return rate("float32") > 0 ? rate(operands) / rate("float32") : 0
  }
}
