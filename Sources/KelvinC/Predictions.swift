// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Kelvin
import KelvinBasics

/// The state of a stateful model.
final class StateHandle: HandleValue {
  static let noun = "a state"

  let state: ModelState

  init(_ state: ModelState) { self.state = state }
}

@c @implementation
public func kelvin_state_new(
  _ model: OpaquePointer?, _ state: UnsafeMutablePointer<OpaquePointer?>?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let result = try place(state, "state")
    result.pointee = try Handles.add(StateHandle(try Handles.find(model, as: ModelHandle.self).model.makeState()))
  }
}

@c @implementation
public func kelvin_state_read(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?
) -> kelvin_code {
  exchange(state, name, array, error) { held, borrowed in try held.transfer(to: borrowed) }
}

@c @implementation
public func kelvin_state_write(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?
) -> kelvin_code {
  exchange(state, name, array, error) { held, borrowed in try borrowed.transfer(to: held) }
}

private func exchange(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?,
  _ transfer: (_ held: MultiArray, _ borrowed: MultiArray) throws -> Void
) -> kelvin_code {
  answer(error) {
    let state = try Handles.find(state, as: StateHandle.self).state
    let name = try text(name, "name")
    guard let array else { throw HandleError("'array' is NULL: expected an array") }
    let borrowed = try MultiArray(borrowed: array.pointee)
    try state.withMultiArray(for: name) { held in
      try check(borrowed, holds: held, "state '\(name)'")
      try transfer(held, borrowed)
    }
  }
}

/// - Throws: `ModelError` with code `featureType` if the caller's array does not have the required type and shape.
private func check(_ borrowed: MultiArray, holds array: MultiArray, _ what: String) throws(ModelError) {
  guard array.dataType != borrowed.dataType || array.shape != borrowed.shape else { return }
  throw ModelError(
    .featureType,
    "\(what): expected \(array.dataType.rawValue) of shape \(array.shape), "
      + "got \(borrowed.dataType.rawValue) of shape \(borrowed.shape)")
}

@c @implementation
public func kelvin_state_release(_ state: OpaquePointer?) { Handles.release(state, as: StateHandle.self) }

@c @implementation
public func kelvin_predict(
  _ model: OpaquePointer?, _ inputs: OpaquePointer?, _ outputs: OpaquePointer?, _ state: OpaquePointer?,
  _ cancellation: OpaquePointer?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let model = try Handles.find(model, as: ModelHandle.self)
    let inputs = try Handles.find(inputs, as: FeaturesHandle.self)
    let outputs = try Handles.find(outputs, as: FeaturesHandle.self)
    guard inputs !== outputs else {
      throw ModelError(.parameters, "inputs and outputs are the same features object; expected two different ones")
    }
    outputs.take(try predict(model, try inputs.provider(), outputs.backings, state, cancellation))
  }
}

@c @implementation
public func kelvin_predict_arrays(
  _ model: OpaquePointer?, _ input_names: UnsafePointer<UnsafePointer<CChar>?>?, _ inputs: UnsafePointer<kelvin_array>?,
  _ input_count: Int, _ output_names: UnsafePointer<UnsafePointer<CChar>?>?, _ outputs: UnsafePointer<kelvin_array>?,
  _ output_count: Int, _ state: OpaquePointer?, _ cancellation: OpaquePointer?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let model = try Handles.find(model, as: ModelHandle.self)
    let given = try arrays(input_names, inputs, input_count, "input") { FeatureValue(multiArray: $0) }
    let wanted = try arrays(output_names, outputs, output_count, "output") { OutputBacking.multiArray($0) }
    let result = try predict(model, DictionaryFeatureProvider(dictionary: given), wanted, state, cancellation)
    for case (let name, .multiArray(let borrowed)) in wanted { try write(result, name, to: borrowed) }
  }
}

/// Copies an output to the caller's array, unless the output was computed there.
private func write(_ result: any FeatureProvider, _ name: String, to borrowed: MultiArray) throws {
  guard let value = result.featureValue(for: name) else {
    throw ModelError(
      .featureType,
      "the model gives no output '\(name)'; it gives \(result.featureNames.sorted().joined(separator: ", "))")
  }
  guard let array = value.multiArrayValue else { throw mismatch(name, "an array", value) }
  guard array.dataPointer != borrowed.dataPointer else { return }
  try check(borrowed, holds: array, "output '\(name)'")
  try array.transfer(to: borrowed)
}

/// Returns the caller's arrays by name, valid during the call.
///
/// - Parameters:
///   - noun: the arrays' role, `input` or `output`.
///   - value: converts an array to the returned value.
/// - Throws: `HandleError` for NULL pointers; `ModelError` with code `featureType` for an invalid array and for a
///   duplicate name.
private func arrays<Value>(
  _ names: UnsafePointer<UnsafePointer<CChar>?>?, _ arrays: UnsafePointer<kelvin_array>?, _ count: Int,
  _ noun: StaticString, _ value: (MultiArray) -> Value
) throws -> [String: Value] {
  let names = try elements(names, count, "\(noun)_names")
  let arrays = try elements(arrays, count, "\(noun)s")
  var result: [String: Value] = [:]
  for (name, array) in zip(names, arrays) {
    let name = try text(name, "\(noun)_names")
    let borrowed = value(try naming(name) { try MultiArray(borrowed: array) })
    guard result[exact: name] == nil else {
      throw ModelError(.featureType, "\(noun) '\(name)' is given twice; expected each name once")
    }
    result[exact: name] = borrowed
  }
  return result
}

/// - Parameters:
///   - state: NULL to use a temporary zeroed state.
///   - cancellation: NULL for none; the blocking prediction then runs on this thread.
private func predict(
  _ handle: ModelHandle, _ provider: DictionaryFeatureProvider, _ backings: [String: OutputBacking],
  _ state: OpaquePointer?, _ cancellation: OpaquePointer?
) throws -> any FeatureProvider {
  let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
  let given = try Handles.findOptional(state, as: StateHandle.self)?.state
  let model = try handle.model(for: provider, cancellation)
  let state = given ?? (model.modelDescription.stateDescriptionsByName.isEmpty ? nil : model.makeState())
  let options = PredictionOptions(outputBackings: backings)
  return
    if let cancellation
  {
    try waiting(cancellation) {
      if let state { return try await model.prediction(from: provider, using: state, options: options) }
      return try await model.prediction(from: provider, options: options)
    }
  } else if let state {
    try model.prediction(from: provider, using: state, options: options)
  } else {
    try model.prediction(from: provider, options: options)
  }
}

@c @implementation
public func kelvin_predict_batch(
  _ model: OpaquePointer?, _ inputs: UnsafePointer<OpaquePointer?>?, _ outputs: UnsafePointer<OpaquePointer?>?,
  _ count: Int, _ cancellation: OpaquePointer?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let handle = try Handles.find(model, as: ModelHandle.self)
    let providers = try elements(inputs, count, "inputs").map {
      try Handles.find($0, as: FeaturesHandle.self).provider()
    }
    let places = try elements(outputs, count, "outputs").map { try Handles.find($0, as: FeaturesHandle.self) }
    let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
    guard Set(places.map { ObjectIdentifier($0) }).count == count else {
      throw ModelError(.parameters, "outputs contain a features object twice; expected \(count) different ones")
    }
    guard let first = providers.first else { return }
    let model = try handle.model(for: first, cancellation)
    let batch = ArrayBatchProvider(array: providers)
    let results =
      if let cancellation {
        try waiting(cancellation) { try await model.predictions(fromBatch: batch) }
      } else {
        try model.predictions(fromBatch: batch)
      }
    for (place, result) in zip(places, results.array) { place.take(result) }
  }
}
