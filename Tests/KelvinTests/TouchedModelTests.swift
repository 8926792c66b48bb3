import FoundationEssentials
import Glibc
import Kelvin
import KelvinDevices
import KelvinEngine
import KelvinGraph
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
import Testing

/// Models whose files are touched while a prediction runs, so that the bytes that it read are uncertain.
@Suite struct TouchedModelTests {
  /// Calls a closure at the device's next submission.
  private final class Moment: Sendable {
    private let action = Mutex<(@Sendable () -> Void)?>(nil)
    let submissions = Mutex(0)

    func await(_ body: @escaping @Sendable () -> Void) { action.withLock { $0 = body } }

    func come() {
      submissions.withLock { $0 += 1 }
      let action = action.withLock { action in
        defer { action = nil }
        return action
      }
      action?()
    }
  }

  private let folder = TemporaryFolder()
  private let moment = Moment()

  /// A field that no format has, as large as makes a file one that is mapped.
  private static let padding: [UInt8] = [0xE2, 0x76, 0x80, 0x80, 0x20] + [UInt8](repeating: 5, count: 1 << 19)

  private func predictor(_ path: String, shapes: [String: Shape] = [:]) throws -> Predictor {
    let moment = moment
    let device = HookedDevice(id: "hooked") { moment.come() }
    var options = LoadOptions()
    options.cacheDirectory = nil
    options.shapes = shapes
    options.request = PlanRequest(units: .devices(["hooked"]), precision: .full, threads: 1)
    let inventory = DeviceInventory([DeviceListing(device), DeviceListing(ReferenceDevice())])
    let loaded = try LoadedModel(path: path, options: options, inventory: inventory)
    return try PlannedModel(loaded).predictor(specializationLimit: 3)
  }

  /// Changes the last byte of a file, and changes it back, the time of its last change too.
  private static func flicker(_ path: String) {
    var status = stat()
    let file = open(path, O_WRONLY)
    defer { close(file) }
    #expect(file >= 0 && fstat(file, &status) == 0)
    for byte in [6, 5] as [UInt8] { #expect(pwrite(file, [byte], 1, status.st_size - 1) == 1) }
    #expect(futimens(file, [status.st_atim, status.st_mtim]) == 0)
  }

  @Test func touchedModelRepeatsThePrediction() throws {
    let path = folder.write(TemporaryFolder.read(FlexibleNetwork.path) + Self.padding, "m.onnx")
    let predictor = try predictor(path, shapes: ["x": [1, 3, 8, 8]])
    let array = try MultiArray((0..<3 * 64).map { Float($0 % 17) / 17 - 0.5 }, shape: [1, 3, 8, 8])
    let input = DictionaryFeatureProvider(dictionary: ["x": FeatureValue(multiArray: array)])
    func predict() throws -> [Double] { try predictor.predict(input, [:], nil)["y"]?.multiArrayValue?.doubles ?? [] }
    let answer = try predict()
    moment.submissions.withLock { $0 = 0 }
    #expect(try predict() == answer)
    let once = moment.submissions.withLock(\.self)
    moment.submissions.withLock { $0 = 0 }
    moment.await { Self.flicker(path) }
    #expect(try predict() == answer)
    #expect(once > 0 && moment.submissions.withLock(\.self) == 2 * once)
    // The file is checked between two predictions, and nothing is done twice.
    moment.submissions.withLock { $0 = 0 }
    Self.flicker(path)
    #expect(try predict() == answer && moment.submissions.withLock(\.self) == once)
  }

  @Test func discardedPredictionInvalidatesItsState() throws {
    let original = "\(SharedFiles.projectRoot)/Tests/Vectors/MILControl/counter.mlpackage"
    let package = folder.copy(original, as: "counter.mlpackage")
    let model = "counter.mlpackage/Data/com.apple.CoreML/model.mlmodel"
    let path = folder.write(TemporaryFolder.read("\(folder.path)/\(model)") + Self.padding, model)
    let predictor = try predictor(package)
    let vector = try Vector(path: "\(SharedFiles.projectRoot)/Tests/Vectors/MILControl/counter_0.kv")
    let input = DictionaryFeatureProvider(
      dictionary: Dictionary(
        uniqueKeysWithValues: vector.inputs.map { ($0.name, FeatureValue(multiArray: MultiArray($0.tensor))) }))
    let (state, other) = (predictor.makeState(), predictor.makeState())
    for state in [state, other] { _ = try predictor.predict(input, using: state, [:], nil) }
    Self.flicker(path)
    _ = try predictor.predict(input, using: state, [:], nil)
    moment.await { Self.flicker(path) }
    let error = #expect(throws: ModelError.self) { try predictor.predict(input, using: state, [:], nil) }
    #expect(error?.code == .io && error?.description.contains("was written to while it was used") == true)
    let later = #expect(throws: ModelError.self) { try predictor.predict(input, using: state, [:], nil) }
    #expect(later?.code == .parameters && later?.description.contains("makeState()") == true)
    _ = try predictor.predict(input, using: other, [:], nil)
  }
}
