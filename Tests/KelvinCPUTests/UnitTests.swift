import CKelvinKernels
import Glibc
import KelvinCPU
import KelvinDevices
import KelvinGraph
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
