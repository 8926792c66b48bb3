import CFaultyDrivers
import Glibc
import KelvinCPU
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinOpenCL
import KelvinReference
import KelvinRuntime
import KelvinVulkan
import TestSupport
import Testing

/// An interface whose loader is simulated.
enum Interface: String, CaseIterable, Codable {
  case vulkan, opencl

  /// Returns the devices of the simulated driver, or the reason why there are none.
  ///
  /// - Parameter patience: the time limit of the driver's calls, in seconds.
  func discover(patience: Double) -> [DeviceListing] {
    switch self {
    case .vulkan:
      guard let entry = faulty_vulkan() else { return [] }
      return VulkanDevice.discover(options: VulkanOptions(entry: entry, patience: patience))
    case .opencl:
      let find = unsafeBitCast(find, to: UnsafeRawPointer.self)
      return OpenCLDevice.discover(find: find, patience: patience)
    }
  }

  private var find: @convention(c) (UnsafePointer<CChar>) -> UnsafeMutableRawPointer? { faulty_opencl }

  var device: String { "\(rawValue):0" }

  /// The result codes for a lost device, for missing memory, and for another failure.
  var codes: (lost: Int32, memory: Int32, other: Int32) {
    switch self {
    case .vulkan: (-4, -2, -8)
    case .opencl: (-36, -4, -59)
    }
  }
}

/// A machine with a CPU, the reference device, and devices behind a simulated driver with a fault: the first, or each
/// as often as ordered.
struct FaultyMachine {
  let interface: Interface
  let inventory: DeviceInventory
  let device: (any Device)?
  /// Seconds after which the device hangs.
  let patience: Double

  /// - Parameters:
  ///   - order: the order that is active before the device is discovered; another order can follow.
  ///   - isDoubted: whether the device runs its self-tests.
  ///   - renews: whether a device that fails is opened anew once, as the program's own devices are.
  init(
    _ interface: Interface, _ order: FaultyOrder = FaultyOrder(), patience: Double = 10, isDoubted: Bool = false,
    renews: Bool = false
  ) {
    faulty_order(order)
    self.interface = interface
    self.patience = patience
    let count = max(Int(order.cards), 1)
    let family = DeviceFamily(interface.rawValue, of: [.software, .discreteGPU, .integratedGPU], renews: renews) {
      let listings = Array(interface.discover(patience: patience).prefix(count))
      for listing in listings { listing.device?.trust?.believe(!isDoubted) }
      return listings
    }
    inventory = DeviceInventory([
      family, DeviceFamily("cpu", of: [.cpu]) { CPUDevice.discover() },
      DeviceFamily("reference", of: [.reference]) { [DeviceListing(ReferenceDevice())] },
    ])
    device = inventory.devices(named: (0..<count).map { "\(interface.rawValue):\($0)" }).first
  }

  /// Loads a network planned for the device alone; the CPU runs unsupported nodes.
  ///
  /// - Parameters:
  ///   - shape: the shape of the input "x".
  ///   - cacheDirectory: nil for no cache.
  ///   - units: devices to plan for; none for the first of the simulated driver.
  func load(
    _ path: String = FlexibleNetwork.path, shape: [Int] = [1, 3, Self.side, Self.side], isStrict: Bool = false,
    excluding: [String] = [], cacheDirectory: String? = nil, units: [String] = []
  ) throws -> Predictor {
    var options = LoadOptions()
    options.cacheDirectory = cacheDirectory
    options.request = PlanRequest(
      units: .devices(units.isEmpty ? [interface.device] : units), isStrict: isStrict, precision: .full, threads: 1,
      exclusions: excluding)
    options.shapes = ["x": Shape(shape)]
    options.watchdog.floor = patience
    let loaded = try LoadedModel(path: path, options: options, inventory: inventory)
    return try loaded.fallback.withFallback { _ in
      try PlannedModel(loaded).predictor(specializationLimit: 2)
    }
  }

  /// A prediction during which the device does not go on: it has all the time that it wants until a call has failed, and
  /// little from then on. So a busy machine does not count as a failing device.
  func answer(_ predictor: Predictor, _ input: DictionaryFeatureProvider, during order: FaultyOrder) throws -> [Double]
  {
    faulty_order(order)
    let health = device?.health
    let watch = WorkerThread {
      faulty_await_failure()
      health?.allowNoMore(than: 0.2)
    }
    return try withExtendedLifetime(watch) { try predictor.answer(input) }
  }

  static let side = 12

  static func input(_ seed: Int, side: Int = side) throws -> DictionaryFeatureProvider {
    let values = (0..<3 * side * side).map { Float(($0 &* 31 &+ seed &* 17) % 23) / 23 - 0.5 }
    return DictionaryFeatureProvider(
      dictionary: ["x": FeatureValue(multiArray: try MultiArray(values, shape: [1, 3, side, side]))])
  }

  /// Returns the reference device's answer to each input.
  static func expected(_ inputs: [DictionaryFeatureProvider]) throws -> [[Double]] {
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["reference"]), precision: .full, threads: 1)
    options.shapes = ["x": [1, 3, side, side]]
    let loaded = try LoadedModel(
      path: FlexibleNetwork.path, options: options, inventory: DeviceInventory([DeviceListing(ReferenceDevice())]))
    let predictor = try PlannedModel(loaded).predictor(specializationLimit: 1)
    return try inputs.map { try predictor.answer($0) }
  }
}

/// Ends a child process once nothing is at work on its devices. A device that is out is never closed, and drivers do not
/// always survive the end of a process that has not closed them.
func leave() -> Never {
  faulty_order(FaultyOrder())
  fflush(nil)
  _exit(EXIT_SUCCESS)
}

extension Predictor {
  func answer(_ input: DictionaryFeatureProvider) throws -> [Double] {
    try predict(input, [:], nil)["y"]?.multiArrayValue?.doubles ?? []
  }
}

/// Returns the distance of an answer from the expected one, relative to the largest expected number; infinite for
/// another size or a NaN.
func distance(_ answer: [Double], _ expected: [Double]) -> Double {
  guard answer.count == expected.count, answer.allSatisfy(\.isFinite) else { return .infinity }
  let scale = expected.map(abs).max() ?? 1
  return zip(answer, expected).map { abs($0 - $1) }.max().map { $0 / scale } ?? .infinity
}

extension FaultyFault {
  /// - Parameter forGood: whether every call fails from the first one on.
  static func answering(_ function: String, call: Int = 1, forGood: Bool = false, code: Int32) -> FaultyOrder {
    order(function, call, forGood, code: code, FaultyAnswers)
  }

  /// The submission of the call never ends.
  static func hanging(_ function: String, call: Int = 1) -> FaultyOrder {
    order(function, call, false, code: 0, FaultyQueueHangs)
  }

  /// The call does not return before the next order.
  static func stuck(in function: String, call: Int = 1, code: Int32 = 0) -> FaultyOrder {
    order(function, call, false, code: code, FaultyCallHangs)
  }

  /// The call uses this much processor time before it is forwarded.
  static func computing(in function: String, milliseconds: Int32) -> FaultyOrder {
    order(function, 1, false, code: milliseconds, FaultyCallComputes)
  }

  private static func order(
    _ function: String, _ call: Int, _ forGood: Bool, code: Int32, _ hang: FaultyHang
  ) -> FaultyOrder {
    var order = FaultyOrder()
    // The simulated driver identifies its functions by its own constants.
    var index: UInt32 = 0
    while let known = faulty_function(index), String(cString: known) != function { index += 1 }
    order.fault = FaultyFault(
      function: faulty_function(index), first: UInt32(call), count: forGood ? .max : 1, code: code,
      hangs: Int32(hang.rawValue))
    return order
  }
}
