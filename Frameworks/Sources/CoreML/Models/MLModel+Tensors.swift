import Kelvin

extension MLModel {
  /// Makes one prediction from tensors, which are computed first. Cancelling the task ends the prediction.
  ///
  /// Outputs of float64 become float32, and those of 64-bit integers int32.
  ///
  /// - Throws: as `prediction(from:options:)`; `featureType` if an output is not an array.
  public func prediction(from inputs: [String: MLTensor]) async throws -> [String: MLTensor] {
    let features = try await Self.features(inputs)
    do throws(ModelError) { return try Self.tensors(try await kelvin.prediction(from: features)) } catch {
      throw MLModelError(error)
    }
  }

  /// Makes one prediction from tensors that reads and updates a state.
  ///
  /// - Throws: as `prediction(from:using:options:)`; `featureType` if an output is not an array.
  public func prediction(
    from inputs: [String: MLTensor], using state: MLState
  ) async throws -> [String: MLTensor] {
    let features = try await Self.features(inputs)
    do throws(ModelError) {
      return try Self.tensors(try await kelvin.prediction(from: features, using: state.kelvin))
    } catch { throw MLModelError(error) }
  }

  private static func features(_ tensors: [String: MLTensor]) async throws -> [String: FeatureValue] {
    let tensors = tensors.map { ($0, $1) }
    let values = try await TensorProgram.values(of: tensors.map(\.1.node))
    return Dictionary(uniqueKeysWithValues: zip(tensors, values).map { ($0.0, FeatureValue(multiArray: $1)) })
  }

  private static func tensors(_ outputs: DictionaryFeatureProvider) throws(ModelError) -> [String: MLTensor] {
    var tensors: [String: MLTensor] = [:]
    for (name, value) in outputs.dictionary {
      guard let array = value.multiArrayValue else {
        throw ModelError(.featureType, "the output '\(name)' is not an array: predict from features instead of tensors")
      }
      let type = array.dataType.tensorScalar?.multiArrayDataType ?? (array.dataType.isFloatingPoint ? .float32 : .int32)
      let converted = type == array.dataType ? array : MultiArray.filled(type, array.shape) { _ in }
      if converted !== array { try array.transfer(to: converted) }
      tensors[name] = MLTensor(converted)
    }
    return tensors
  }
}
