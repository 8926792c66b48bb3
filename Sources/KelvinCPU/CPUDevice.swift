import CKelvinKernels
import Glibc
package import KelvinDevices
package import KelvinGraph

/// The processor. It runs SIMD kernels for the available instruction sets on one thread pool for the process.
///
/// Values of type float16 are float32 inside a segment and converted at its boundary.
package final class CPUDevice: KernelDevice {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  let kernels: CPUKernels
  var variant: CPUVariant { kernels.variant }

  /// The names of the instruction sets this host has kernels for, best first.
  package static var variantNames: [String] { CPUVariant.all.map(\.name) }

  /// - Parameters:
  ///   - variant: the index of an instruction set in `variantNames`.
  ///   - prefersBlocks: whether kernels on blocks of channels are taken wherever they exist, regardless of conversion
  ///     costs, so that tests reach all of them.
  ///   - emulatesTiles: whether products at precision `.low` are those of tiles, by an emulation of the unit.
  ///   - emulatesHalves: whether products of rows at precision `.low` are those of float16, by an emulation.
  package convenience init(
    variant: Int = 0, prefersBlocks: Bool = false, emulatesTiles: Bool = false, emulatesHalves: Bool = false
  ) {
    var variant = CPUVariant.all[variant]
    if emulatesTiles { variant.tiles = .emulation }
    if emulatesHalves { variant.halves = ck_emulated_halves() }
    self.init(CPUKernels(variant: variant, prefersBlocks: prefersBlocks))
  }

  /// - Parameter faults: the faults of better instruction sets that are therefore not used.
  init(_ kernels: CPUKernels, faults: [String] = []) {
    self.kernels = kernels
    info = DeviceInfo(
      id: "cpu", name: Self.processorName, kind: .cpu,
      driver: ([kernels.variant.description] + faults).joined(separator: "; "), version: "",
      memory: sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE)), resource: "cpu")
  }

  /// Returns the processor with the best instruction set whose results agree with the portable kernels
  /// (`VariantCheck`). The environment variable `KELVIN_CPU_VARIANT` selects another one for comparisons.
  package static func discover() -> [DeviceListing] {
    guard let wanted = getenv("KELVIN_CPU_VARIANT").map({ String(cString: $0) }), !wanted.isEmpty else {
      let (index, faults) = CPUVariant.best
      var variant = CPUVariant.all[index]
      variant.measuresUnits = true
      variant.tiles = .unit
      let kernels = CPUKernels(variant: variant, prefersBlocks: false)
      return [DeviceListing(CPUDevice(kernels, faults: faults))]
    }
    if let variant = variantNames.firstIndex(of: wanted) { return [DeviceListing(CPUDevice(variant: variant))] }
    let reason = """
      KELVIN_CPU_VARIANT is '\(wanted)': expected one of \(variantNames.joined(separator: ", ")), or leave it unset
      """
    return [DeviceListing(missing: CPUDevice().info, reason: reason)]
  }

  package var kernelFamily: any KernelFamily { kernels }

  package var productRates: [ProductRate] { CPUUnits.measured.rates }

  package func recall(_ blobs: any BlobCache) { CPUUnits.recall(blobs) }

  package var productFault: String? { CPUTiles.checked.fault.map { "Products of tiles are off: \($0)" } }

  package func productSpeedup(at precision: Precision) -> Double { precision == .low ? variant.roundedSpeedup : 1 }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    try CPUExecutable(segment, on: self)
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    try HostBuffer(byteCount: byteCount, for: info.id)
  }

  private static let processorName: String = {
    guard let file = fopen("/proc/cpuinfo", "r") else { return "CPU" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), file) != nil {
      let bytes = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
      let text = String(decoding: bytes, as: UTF8.self)
      guard text.hasPrefix("model name"), let colon = text.firstIndex(of: ":") else { continue }
      return String(text[text.index(after: colon)...].drop { $0 == " " }.prefix { $0 != "\n" })
    }
    return "CPU"
  }()
}
