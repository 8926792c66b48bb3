import CKelvin
import Kelvin
import Synchronization

/// Values by name.
final class FeaturesHandle: HandleValue {
  static let noun = "features"

  /// A value, as it was given or predicted.
  enum Value {
    case feature(FeatureValue)
    /// An image in the caller's memory.
    case lent(PixelBacking, ImageOrientation, ImageCropAndScale?)
  }

  private struct State {
    var values: [String: Value] = [:]
    /// What the caller lent for outputs, whatever was predicted since.
    var lent: [String: OutputBacking] = [:]
    /// What getters gave pointers to, as long as nothing changes.
    var views = CMemory()
  }

  private let state = Mutex(State())

  /// Gives a feature a value.
  func set(_ name: String, _ value: Value) {
    state.withLock { state in
      state.views = CMemory()
      state.values[name] = value
      state.lent[name] =
        switch value {
        case .feature(let feature): feature.multiArrayValue.map { .multiArray($0) }
        case .lent(let image, _, _): .pixelBuffer(image)
        }
    }
  }

  func remove(_ name: String) {
    state.withLock { state in
      state.views = CMemory()
      state.values[name] = nil
      state.lent[name] = nil
    }
  }

  /// Takes what a prediction gave in place of all there was; what was lent stays lent.
  func take(_ provider: any FeatureProvider) {
    var values: [String: Value] = [:]
    for name in provider.featureNames { values[name] = provider.featureValue(for: name).map { .feature($0) } }
    state.withLock { state in
      state.views = CMemory()
      state.values = values
    }
  }

  /// Where outputs are to be written.
  var backings: [String: OutputBacking] { state.withLock(\.lent) }

  /// What a prediction reads.
  func provider() throws -> DictionaryFeatureProvider {
    let values = state.withLock(\.values)
    var dictionary: [String: FeatureValue] = [:]
    dictionary.reserveCapacity(values.count)
    for (name, value) in values {
      switch value {
      case .feature(let feature): dictionary[name] = feature
      case .lent(let image, let orientation, let fit):
        dictionary[name] = try KelvinC.imageValue(try PixelBuffer(lent: image), orientation, fit)
      }
    }
    return DictionaryFeatureProvider(dictionary: dictionary)
  }

  var names: [String] { state.withLock { $0.values.keys.sorted() } }

  func value(_ name: String) -> Value? { state.withLock { $0.values[name] } }

  /// Does something with the memory that getters point into, by one thread at a time.
  func withViews<Result>(_ body: (CMemory) throws -> Result) rethrows -> Result {
    try state.withLock { state in try body(state.views) }
  }

  /// A feature's value.
  ///
  /// - Throws: `ModelError` with code `featureType` where it has none.
  func feature(_ name: String) throws -> FeatureValue {
    switch value(name) {
    case .feature(let feature): return feature
    // Of a kind that no getter of values takes; the image has its own.
    case .lent: return FeatureValue(undefined: .image)
    case nil:
      let known = names
      throw ModelError(
        .featureType,
        "there is no feature '\(name)'; there are \(known.isEmpty ? "none" : known.joined(separator: ", "))")
    }
  }
}
