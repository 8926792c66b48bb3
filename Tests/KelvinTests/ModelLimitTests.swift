import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinPlanning
import KelvinReference
import KelvinRuntime
import TestSupport
import Testing

/// The limits of a configuration for a model, and the errors when they are reached.
@Suite struct ModelLimitTests {
  private func model(_ change: (inout ModelConfiguration) -> Void) throws -> Model {
    var configuration = ModelConfiguration()
    configuration.usesCache = false
    configuration.computeUnits = .cpuOnly
    configuration.inputShapes = ["x": [1, 3, 16, 16]]
    change(&configuration)
    return try Model(contentsOf: URL(fileURLWithPath: FlexibleNetwork.path), configuration: configuration)
  }

  private static func input(_ side: Int) throws -> DictionaryFeatureProvider {
    let values = [Float](repeating: 0.25, count: 3 * side * side)
    return DictionaryFeatureProvider(
      dictionary: ["x": FeatureValue(multiArray: try MultiArray(values, shape: [1, 3, side, side]))])
  }

  private static func isLimit(_ error: any Error, _ place: String) -> Bool {
    let error = error as? ModelError
    return error?.code == .limit && "\(error!)".contains(place)
  }

  @Test func loadingStopsAtItsLimits() throws {
    #expect { _ = try model { $0.timeLimit = .nanoseconds(1) } } throws: { Self.isLimit($0, "timeLimit") }
    #expect { _ = try model { $0.maximumMemory = 1 } } throws: { Self.isLimit($0, "maximumMemory") }
    _ = try model { ($0.timeLimit, $0.maximumMemory) = (.seconds(1e6), 1 << 40) }.prediction(from: Self.input(16))
  }

  /// A prediction that needs more ends before it takes it, and others go on.
  @Test func predictionStopsAtItsMemoryLimit() throws {
    let model = try model { $0.maximumMemory = 200 << 20 }
    let usual = try model.prediction(from: Self.input(16))
    #expect { _ = try model.prediction(from: Self.input(1024)) } throws: { Self.isLimit($0, "maximumMemory") }
    let again = try model.prediction(from: Self.input(16))
    #expect(again["y"]?.multiArrayValue == usual["y"]?.multiArrayValue)
  }

  /// Predictions that wait for an execution context end at the limit, even if all contexts are held by predictions that
  /// do not end.
  @Test(.timeLimit(.minutes(1)))
  func limitWakesWaitingPredictions() throws {
    let gate = ConditionLock((entered: 0, ended: 0, isOpen: false))
    let device = HookedDevice(id: "hooked") { () throws(DeviceError) in
      gate.withLock { $0.entered += 1 }
      _ = try? gate.wait { $0.isOpen ? true : nil }
    }
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.request = PlanRequest(units: .devices(["hooked"]), isStrict: true, precision: .full, threads: 1)
    options.shapes = ["x": [1, 3, 16, 16]]
    options.limits.seconds = 0.2
    let loaded = try LoadedModel(
      path: FlexibleNetwork.path, options: options,
      inventory: DeviceInventory([DeviceListing(device), DeviceListing(ReferenceDevice())]))
    let predictor = try PlannedModel(loaded).predictor(specializationLimit: 1)
    // More than the execution contexts of any machine.
    let count = 20
    let threads = try (0..<count).map { _ in
      let input = try Self.input(16)
      return WorkerThread {
        #expect { _ = try predictor.predict(input, [:], nil) } throws: { Self.isLimit($0, "while predicting") }
        gate.withLock { $0.ended += 1 }
      }
    }
    let held = try gate.wait { $0.entered + $0.ended == count && $0.entered > 0 ? $0.entered : nil }
    #expect(held < count)
    gate.withLock { $0.isOpen = true }
    for thread in threads { thread?.join() }
  }
}
