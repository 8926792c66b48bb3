// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKelvin
import Kelvin

/// What a stateful model remembers.
final class StateHandle: Handled {
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
  exchange(state, name, array, error) { held, lent in try held.transfer(to: lent) }
}

@c @implementation
public func kelvin_state_write(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?
) -> kelvin_code {
  exchange(state, name, array, error) { held, lent in try lent.transfer(to: held) }
}

private func exchange(
  _ state: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ array: UnsafePointer<kelvin_array>?, _ error: ErrorText?,
  _ transfer: (_ held: MultiArray, _ lent: MultiArray) throws -> Void
) -> kelvin_code {
  answer(error) {
    let state = try Handles.find(state, as: StateHandle.self).state
    let name = try text(name, "name")
    guard let array else { throw HandleError("'array' is NULL: expected an array") }
    let lent = try MultiArray(lent: array.pointee)
    try state.withMultiArray(for: name) { held in
      guard held.dataType == lent.dataType, held.shape == lent.shape else {
        throw ModelError(
          .featureType,
          "state '\(name)': expected \(held.dataType.rawValue) of shape \(held.shape), "
            + "got \(lent.dataType.rawValue) of shape \(lent.shape)")
      }
      try transfer(held, lent)
    }
  }
}

@c @implementation
public func kelvin_state_release(_ state: OpaquePointer?) { Handles.release(state, as: StateHandle.self) }

@c @implementation
public func kelvin_predict(
  _ model: OpaquePointer?, _ inputs: OpaquePointer?, _ outputs: OpaquePointer?, _ state: OpaquePointer?,
  _ cancellation: OpaquePointer?, _ error: ErrorText?
) -> kelvin_code {
  answer(error) {
    let handle = try Handles.find(model, as: ModelHandle.self)
    let inputs = try Handles.find(inputs, as: FeaturesHandle.self)
    let outputs = try Handles.find(outputs, as: FeaturesHandle.self)
    let cancellation = try Handles.findOptional(cancellation, as: CancellationHandle.self)
    let given = try Handles.findOptional(state, as: StateHandle.self)?.state
    guard inputs !== outputs else {
      throw ModelError(.parameters, "inputs and outputs are the same features; expected two")
    }
    let provider = try inputs.provider()
    let model = try handle.model(for: provider, cancellation)
    let state = given ?? (model.modelDescription.stateDescriptionsByName.isEmpty ? nil : model.makeState())
    let options = PredictionOptions(outputBackings: outputs.backings)
    // Blocking forms stay on this thread.
    let result =
      if let cancellation {
        try waiting(cancellation) {
          if let state { return try await model.prediction(from: provider, using: state, options: options) }
          return try await model.prediction(from: provider, options: options)
        }
      } else if let state {
        try model.prediction(from: provider, using: state, options: options)
      } else {
        try model.prediction(from: provider, options: options)
      }
    outputs.take(result)
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
      throw ModelError(.parameters, "outputs name some features twice; expected \(count) others")
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
