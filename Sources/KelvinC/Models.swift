// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import FoundationEssentials
import Kelvin
import KelvinBasics
import KelvinMeasuring
import Synchronization

/// A loaded model, or a model whose input sizes are set by its first inputs.
final class ModelHandle: HandleValue {
  static let noun = "a model"

  fileprivate enum State {
    case loaded(Model)
    case waiting(ReadModel, ModelConfiguration)
  }

  private let state: Mutex<State>

  init(_ model: Model) { state = Mutex(.loaded(model)) }

  init(_ file: ReadModel, _ configuration: ModelConfiguration) { state = Mutex(.waiting(file, configuration)) }

  /// Returns the model. If its sizes are still open, it is loaded for the sizes of these inputs.
  ///
  /// - Throws: `ModelError` as `Model.load` does, and `featureType` for a value that does not fit.
  func model(for provider: some FeatureProvider, _ cancellation: CancellationHandle?) throws -> Model {
    try state.withLock { state in
      guard case .waiting(let file, var configuration) = state else { return try state.model }
      configuration.inputShapes = try file.shapes(of: provider, functionName: configuration.functionName)
      let model = try waiting(cancellation) { [configuration] in try await Model.load(file, configuration) }
      state = .loaded(model)
      return model
    }
  }

  /// - Throws: `ModelError` with code `featureType` if the model's sizes are still open.
  var model: Model { get throws { try state.withLock { try $0.model } } }

  var description: ModelDescription {
    get throws {
      try state.withLock { state in
        switch state {
        case .loaded(let model): model.modelDescription
        case .waiting(let file, let configuration): try file.modelDescription(of: configuration.functionName)
        }
      }
    }
  }

  var remarks: [String] {
    state.withLock { state in
      if case .loaded(let model) = state { return model.remarks }
      return []
    }
  }
}

extension ModelHandle {
  /// Checks the devices, and returns the numbers of doubtful predictions. A model that waits for its sizes has made none.
  fileprivate func checkDevices() -> [ClosedRange<Int>] {
    guard let model = state.withLock({ if case .loaded(let model) = $0 { model } else { nil } }) else { return [] }
    // A failure of a device is in the remarks.
    try? model.checkDevices()
    return model.doubtfulPredictions
  }
}

extension ModelHandle.State {
  fileprivate var model: Model {
    get throws {
      guard case .loaded(let model) = self else {
        throw ModelError(
          .featureType,
          "the model's input sizes are flexible, and the first prediction fixes them: give the option "
            + "'shape', or predict first")
      }
      return model
    }
  }
}

@c @implementation
public func kelvin_model_load(
  _ path: UnsafePointer<CChar>?, _ options: OpaquePointer?, _ cancellation: OpaquePointer?,
  _ model: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(model, "model")
    let url = URL(filePath: try KelvinC.path(path))
    // The options decide.
    result.pointee = try load(ModelAsset(url: url, isolation: .none), options, cancellation)
  }
}

@c @implementation
public func kelvin_model_load_bytes(
  _ bytes: UnsafeRawPointer?, _ count: Int, _ files: UnsafePointer<kelvin_file>?, _ file_count: Int,
  _ options: OpaquePointer?, _ cancellation: OpaquePointer?, _ model: UnsafeMutablePointer<OpaquePointer?>?,
  _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(model, "model")
    var blobs: [URL: Data] = [:]
    for file in try elements(files, file_count, "files") {
      blobs[URL(filePath: try path(file.path))] = try data(file.bytes, file.count, "files.bytes")
    }
    let asset = try ModelAsset(specification: try data(bytes, count, "bytes"), blobMapping: blobs)
    result.pointee = try load(asset, options, cancellation)
  }
}

private func data(_ bytes: UnsafeRawPointer?, _ count: Int, _ name: String) throws -> Data {
  try check(count, 1, name)
  guard let bytes else {
    if count == 0 { return Data() }
    throw HandleError("'\(name)' is NULL: expected \(count) bytes")
  }
  return Data(bytes: bytes, count: count)
}

private func load(
  _ asset: ModelAsset, _ options: OpaquePointer?, _ cancellation: OpaquePointer?
) throws -> OpaquePointer {
  let configuration = try configuration(options)
  let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
  do {
    let model = try waiting(cancellation) { try await Model.load(asset: asset, configuration: configuration) }
    return try Handles.add(ModelHandle(model))
  } catch let error as ModelError where error.code == .featureType {
    guard let file = try ReadModel(openSizesOf: asset, configuration) else { throw error }
    return try Handles.add(ModelHandle(file, configuration))
  }
}

@c @implementation
public func kelvin_model_description(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let document = try Handles.find(model, as: ModelHandle.self).description.document
    result.pointee = allocated(String(decoding: try JSONText.encode(document), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_plan(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let model = try Handles.find(model, as: ModelHandle.self).model
    result.pointee = allocated(String(decoding: try model.computePlan.json(), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_plan_html(
  _ model: OpaquePointer?, _ html: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(html, "html")
    result.pointee = allocated(try Handles.find(model, as: ModelHandle.self).model.computePlan.htmlReport())
  }
}

@c @implementation
public func kelvin_model_remarks(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let remarks = try Handles.find(model, as: ModelHandle.self).remarks
    result.pointee = allocated(String(decoding: try JSONText.encode(remarks), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_check_devices(
  _ model: OpaquePointer?, _ json: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(json, "json")
    let doubtful = try Handles.find(model, as: ModelHandle.self).checkDevices()
    let ranges = doubtful.map { [$0.lowerBound, $0.upperBound] }
    result.pointee = allocated(String(decoding: try JSONText.encode(ranges), as: UTF8.self))
  }
}

@c @implementation
public func kelvin_model_release(_ model: OpaquePointer?) { Handles.release(model, as: ModelHandle.self) }
