import CKelvinKernels
import Glibc
import KelvinCPU
import KelvinDevices
import KelvinGraph
import Synchronization
import Testing

/// The units that multiply, and the choice among them.
@Suite struct UnitTests {
  private func units(_ rates: [(String, Double)]) -> CPUUnits {
    CPUUnits(rates.map { ProductRate(operands: $0.0, operationsPerSecond: $0.1) })
  }

  @Test func speedupIsRelativeToFloat32() {
    #expect(units([("float32", 100), ("bfloat16", 200)]).speedup(of: "bfloat16") == 2)
    #expect(units([("float32", 175), ("bfloat16", 87)]).speedup(of: "bfloat16") < 1)
    #expect(units([("float32", 100), ("int8", 400)]).speedup(of: "bfloat16") == 0)
    #expect(units([]).speedup(of: "bfloat16") == 0)
  }

  @Test func ratesAreKeptBetweenProcesses() {
    let (blobs, kept) = (MemoryBlobs(), units([("float32", 1.25e11), ("int8 tiles", 4.445e12)]))
    #expect(CPUUnits(keptIn: blobs, "key") == nil)
    kept.keep(in: blobs, "key")
    #expect(CPUUnits(keptIn: blobs, "key")?.rates == kept.rates)
    #expect(CPUUnits(keptIn: blobs, "another processor") == nil)
  }

  @Test func damagedRatesAreMeasuredAgain() {
    let blobs = MemoryBlobs()
    units([("float32", 1.25e11)]).keep(in: blobs, "key")
    let count = blobs.blob("key")?.withUnsafeBytes(\.count) ?? 0
    #expect(count > 0)
    for index in 0..<count {
      blobs.flip(index, of: "key")
      #expect(CPUUnits(keptIn: blobs, "key") == nil, "byte \(index)")
      blobs.flip(index, of: "key")
    }
    for (name, rate) in [("float32", Double.nan), ("float32", -1), ("float32", .infinity), ("float4", 1)] {
      units([(name, rate)]).keep(in: blobs, "key")
      #expect(CPUUnits(keptIn: blobs, "key") == nil, "\(name) \(rate)")
    }
  }

  @Test func everyUnitOfTheProcessorHasARate() throws {
    var count = 0
    let variants = try #require(ck_variants(&count))
    let best = try #require(variants[0]).pointee
    let rates = CPUUnits.measured.rates
    #expect(rates.contains { $0.operands == "float32" } || count == 1)
    #expect(rates.contains { $0.operands == "bfloat16" } || best.products.1 == nil)
    #expect(rates.allSatisfy { $0.operationsPerSecond > 0 && $0.operationsPerSecond.isFinite })
  }

  @Test(.enabled(if: getenv("KELVIN_CPU_VARIANT") == nil, "an instruction set is forced"))
  func operandsAreRoundedOnlyWhereThatIsFaster() throws {
    var count = 0
    let variants = try #require(ck_variants(&count))
    let best = try #require(variants[0]).pointee
    let device = try #require(CPUDevice.discover().first?.device as? CPUDevice)
    let types = [("bfloat16", best.products.1), ("float16", best.products.2)]
    let isFaster = types.contains { $0.1 != nil && CPUUnits.measured.speedup(of: $0.0) > 1 }
    #expect(device.rounds == isFaster)
    #expect(device.productSpeedup(at: .low) >= 1)
    #expect(device.productSpeedup(at: .full) == 1)
  }
}

private final class MemoryBlobs: BlobCache {
  private let blobs = Mutex<[String: [UInt8]]>([:])

  func blob(_ key: String) -> Bytes? { blobs.withLock { $0[key].map { Bytes($0) } } }
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let copy = Array(bytes)
    blobs.withLock { $0[key] = copy }
  }
  func flip(_ index: Int, of key: String) { blobs.withLock { $0[key]?[index] ^= 1 } }
}
