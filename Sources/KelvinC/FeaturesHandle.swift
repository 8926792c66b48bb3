import CKelvin
import Kelvin
import KelvinBasics
import Synchronization

/// A set of named values.
final class FeaturesHandle: HandleValue {
  static let noun = "features"

  /// A value that was set or predicted.
  enum Value {
    case feature(FeatureValue)
    /// An image in the caller's memory.
    case borrowed(PixelBacking, ImageOrientation, ImageCropAndScale?)
    /// An input image of any format in the caller's memory, which each prediction reads.
    case frame(PixelBuffer, ImageOrientation, ImageCropAndScale?)
  }

  private struct State {
    var values: [String: Value] = [:]
    /// The caller's output buffers, which stay registered across predictions.
    var borrowed: [String: OutputBacking] = [:]
    /// The memory that getters returned pointers to, valid until the features change.
    var views = CMemory()
  }

  private let state = Mutex(State())

  /// Sets a feature's value.
  func set(_ name: String, _ value: Value) {
    state.withLock { state in
      state.views = CMemory()
      state.values[exact: name] = value
      state.borrowed[exact: name] =
        switch value {
        case .feature(let feature): feature.multiArrayValue.map { .multiArray($0) }
        case .borrowed(let image, _, _): .pixelBuffer(image)
        case .frame: nil
        }
    }
  }

  func remove(_ name: String) {
    state.withLock { state in
      state.views = CMemory()
      state.values[exact: name] = nil
      state.borrowed[exact: name] = nil
    }
  }

  /// Replaces all values with a prediction's outputs. The caller's output buffers stay registered.
  func take(_ provider: any FeatureProvider) {
    var values: [String: Value] = [:]
    for name in provider.featureNames { values[name] = provider.featureValue(for: name).map { .feature($0) } }
    state.withLock { state in
      state.views = CMemory()
      state.values = values
    }
  }

  /// The output buffers of a prediction, by name.
  var backings: [String: OutputBacking] { state.withLock(\.borrowed) }

  /// Returns the inputs of a prediction.
  func provider() throws -> DictionaryFeatureProvider {
    let values = state.withLock(\.values)
    var dictionary: [String: FeatureValue] = [:]
    dictionary.reserveCapacity(values.count)
    for (name, value) in values {
      switch value {
      case .feature(let feature): dictionary[name] = feature
      case .borrowed(let image, let orientation, let fit):
        dictionary[name] = try KelvinC.imageValue(try PixelBuffer(borrowed: image), orientation, fit)
      case .frame(let pixels, let orientation, let fit):
        dictionary[name] = try KelvinC.imageValue(pixels, orientation, fit)
      }
    }
    return DictionaryFeatureProvider(dictionary: dictionary)
  }

  var names: [String] { state.withLock { $0.values.keys.sorted() } }

  func value(_ name: String) -> Value? { state.withLock { $0.values[exact: name] } }

  /// Calls `body` with the memory that getters return pointers to. Only one thread at a time executes it.
  func withViews<Result>(_ body: (CMemory) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(state.views) }
  }

  /// Returns a feature's value.
  ///
  /// - Throws: `ModelError` with code `featureType` if the feature has no value.
  func feature(_ name: String) throws -> FeatureValue {
    switch value(name) {
    case .feature(let feature): return feature
    case .frame(let pixels, _, _): return FeatureValue(pixelBuffer: pixels)
    // Getters of values do not accept images in the caller's memory; images have a getter of their own.
    case .borrowed: return FeatureValue(undefined: .image)
    case nil:
      let known = names
      throw ModelError(
        .featureType,
        "there is no feature '\(name)'; there are \(known.isEmpty ? "none" : known.joined(separator: ", "))")
    }
  }
}
