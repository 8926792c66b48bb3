import KelvinDevices
import KelvinOpenCL
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct OpenCLBufferTests {
  @Test(arguments: driven.keys.sorted())
  func writtenBytesAreReadBackAtAnOffset(_ name: String) throws {
    let buffer = try #require(driven[name]).makeBuffer(byteCount: 5000)
    let values = (0..<100).map { UInt8($0) }
    try values.withUnsafeBytes { try buffer.write($0, at: 0) }
    try values.withUnsafeBytes { try buffer.write($0, at: 4900) }
    var result = [UInt8](repeating: 0, count: 100)
    for offset in [0, 4900] {
      try result.withUnsafeMutableBytes { try buffer.read(into: $0, at: offset) }
      #expect(result == values)
    }
    #expect(buffer.byteCount == 5000)
  }

  @Test func cpuDevicesUseHostMemory() throws {
    for device in present where device.info.resource == "cpu" {
      let buffer = try device.makeBuffer(byteCount: 16)
      let pointer = try #require(buffer.hostPointer)
      #expect(Int(bitPattern: pointer) % bufferAlignment == 0)
      pointer.storeBytes(of: 42, as: UInt32.self)
      var result: UInt32 = 0
      try withUnsafeMutableBytes(of: &result) { try buffer.read(into: $0, at: 0) }
      #expect(result == 42)
    }
  }

  @Test func scratchOfIntegratedGPUsIsDeviceLocal() throws {
    let device = try #require(driven.first { $0.key.hasSuffix(DeviceInfo.Kind.integratedGPU.rawValue) }).value
    #expect(try device.makeBuffer(byteCount: 16).hostPointer != nil)
    let scratch = try device.makeScratch(byteCount: 5000)
    #expect(scratch.hostPointer == nil)
    let values = (0..<100).map { UInt8($0) }
    try values.withUnsafeBytes { try scratch.write($0, at: 4900) }
    var result = [UInt8](repeating: 0, count: 100)
    try result.withUnsafeMutableBytes { try scratch.read(into: $0, at: 4900) }
    #expect(result == values)
    for host in present where host.info.resource == "cpu" {
      #expect(try host.makeScratch(byteCount: 16).hostPointer != nil)
    }
  }

  @Test func requestBeyondDeviceMemoryIsRefused() throws {
    let error = #expect(throws: DeviceError.self) { _ = try present[0].makeBuffer(byteCount: 1 << 60) }
    #expect(error?.code == .outOfMemory)
  }
}
