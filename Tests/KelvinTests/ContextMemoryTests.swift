import Dispatch
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// The memory that predictions of many sizes keep, seen by their device.
@Suite struct ContextMemoryTests {
  private final class Fault: Sendable {
    let code = Mutex<DeviceError.Code?>(nil)
    /// Predictions that are on the device, and how many wait for one another there.
    let meeting = ConditionLock((arrived: 0, expected: 0))

    func set(_ code: DeviceError.Code?) { self.code.withLock { $0 = code } }

    func throwIfSet() throws(DeviceError) {
      meeting.withLock { $0.arrived += 1 }
      _ = try? meeting.wait { $0.arrived >= $0.expected ? true : nil }
      if let code = code.withLock({ $0 }) { throw DeviceError(code, device: "hooked", place: "test", reason: "wanted") }
    }
  }

  private let fault = Fault()
  private let device: HookedDevice
  private let predictor: Predictor

  init() throws {
    let fault = fault
    device = HookedDevice(id: "hooked") { () throws(DeviceError) in try fault.throwIfSet() }
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["hooked"]), isStrict: true, precision: .full, threads: 1)
    options.shapes = ["x": [1, 3, 32, 32]]
    let inventory = DeviceInventory([DeviceListing(device), DeviceListing(ReferenceDevice())])
    let loaded = try LoadedModel(path: FlexibleNetwork.path, options: options, inventory: inventory)
    predictor = try PlannedModel(loaded).predictor(specializationLimit: 3)
  }

  private func predict(_ side: Int) throws(ModelError) -> [Double] {
    let values = (0..<3 * side * side).map { Float($0 % 17) / 17 - 0.5 }
    let array = try MultiArray(values, shape: [1, 3, side, side])
    let input = DictionaryFeatureProvider(dictionary: ["x": FeatureValue(multiArray: array)])
    return try predictor.predict(input, [:], nil)["y"]?.multiArrayValue?.doubles ?? []
  }

  @Test(arguments: [DeviceError.Code.execution, .outOfMemory])
  func failuresLeakNoMemory(code: DeviceError.Code) throws {
    let expected = try [24, 32].map { side throws(ModelError) in try predict(side) }
    var held: [Int] = []
    for _ in 0..<6 {
      fault.set(code)
      #expect(throws: ModelError.self) { _ = try predict(24) }
      fault.set(nil)
      #expect(try [24, 32].map { side throws(ModelError) in try predict(side) } == expected)
      held.append(device.heldByteCount)
    }
    #expect(Set(held).count == 1, "\(held)")
  }

  /// A size that occurred once releases its memory after as many other sizes as the cache holds.
  @Test func memoryOfALargeInputIsReleased() throws {
    _ = try predict(32)
    let usual = device.heldByteCount
    _ = try predict(256)
    #expect(device.heldByteCount > 32 * usual)
    for side in [20, 22, 24, 26, 28, 30] { _ = try predict(side) }
    #expect(device.heldByteCount < 8 * usual)
  }

  @Test func memoryOfConcurrentLargeInputsIsReleased() throws {
    _ = try predict(32)
    let usual = device.heldByteCount
    fault.meeting.withLock { $0 = (arrived: 0, expected: 2) }
    DispatchQueue.concurrentPerform(iterations: 2) { _ in _ = try? predict(256) }
    #expect(device.heldByteCount > 64 * usual)
    for side in [20, 22, 24, 26, 28, 30] { _ = try predict(side) }
    #expect(device.heldByteCount < 8 * usual)
  }

  @Test func refusedAllocationsLeakNoMemory() throws {
    let expected = try [24, 32].map { side throws(ModelError) in try predict(side) }
    var held: [Int] = []
    for _ in 0..<6 {
      device.refuseBuffers(over: 1 << 18)
      #expect(throws: ModelError.self) { _ = try predict(256) }
      device.refuseBuffers(over: .max)
      #expect(try [24, 32].map { side throws(ModelError) in try predict(side) } == expected)
      held.append(device.heldByteCount)
    }
    #expect(Set(held).count == 1, "\(held)")
  }

  /// Specializations are evicted on one thread while others look for theirs.
  @Test func manyThreadsUseChangingSizes() throws {
    let sides = Array(8..<20)
    let expected = try sides.map { side throws(ModelError) in try predict(side) }
    let wrong = Mutex(0)
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for step in 0..<60 {
        let place = (step * (2 * thread + 1) + thread) % sides.count
        if (try? predict(sides[place])) != expected[place] { wrong.withLock { $0 += 1 } }
      }
    }
    #expect(wrong.withLock { $0 } == 0)
  }

  @Test func sizesOfOneBucketShareTheirMemory() throws {
    for side in [33, 34] { _ = try predict(side) }
    let held = device.heldByteCount
    for side in [32, 25, 34, 20, 33, 30, 28] { _ = try predict(side) }
    #expect(device.heldByteCount == held)
  }
}
