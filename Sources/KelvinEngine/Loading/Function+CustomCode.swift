import KelvinFeatures
import KelvinGraph
import KelvinHostOperations

extension Function {
  /// Returns the function with the program's code in its custom layers and models.
  ///
  /// - Throws: `customLayer` or `customModel` if the program gives no code for one, or if its code throws.
  func running(_ code: CustomCode?) throws(ModelError) -> Function {
    var function = self
    function.parts = try parts.running(code)
    return function
  }
}

extension [FunctionPart] {
  fileprivate func running(_ code: CustomCode?) throws(ModelError) -> [FunctionPart] {
    var parts = self
    for (index, part) in enumerated() {
      switch part {
      case .graph: break
      case .host(let operation):
        guard var custom = operation as? CustomOperation else { continue }
        custom.implementation = try code.implementation(of: custom)
        parts[index] = .host(custom)
      case .loop(var loop):
        loop.body = try loop.body.running(code)
        parts[index] = .loop(loop)
      case .branch(var branch):
        branch.then = .init(parts: try branch.then.parts.running(code), left: branch.then.left)
        branch.otherwise = .init(parts: try branch.otherwise.parts.running(code), left: branch.otherwise.left)
        parts[index] = .branch(branch)
      }
    }
    return parts
  }
}

extension CustomCode? {
  fileprivate func implementation(
    of operation: CustomOperation
  ) throws(ModelError) -> CustomOperation.Implementation {
    let (source, features) = (operation.source, operation.source.features)
    let made: CustomOperation.Implementation?
    do {
      switch source.kind {
      case .layer: made = try self?.makeLayer(CustomCodeDescription(source, nil)).map { .init($0, source) }
      case .model:
        let function = Function(inputs: features.inputs, outputs: features.outputs, parts: [])
        let description = CustomCodeDescription(source, ModelDescription(function, ModelMetadata()))
        made = try self?.makeModel(description).map { .init($0, function) }
      }
    } catch { throw ModelError(operation.failed("\(error)")) }
    guard let made else {
      throw ModelError(
        operation.failed("the program has no code for it", remedy: "give it in ModelConfiguration.customCode"))
    }
    return made
  }
}

extension CustomOperation.Implementation {
  fileprivate init(_ layer: any CustomLayer, _ source: CustomOperation.Source) {
    self.init(
      types: { inputs in
        var shapes: [[Int]] = []
        for case .tensor(let type) in inputs { shapes.append(type.shape.dimensions) }
        guard shapes.count == inputs.count else { return [] }
        return try layer.outputShapes(forInputShapes: shapes).map { .tensor(TensorType(.float32, Shape($0))) }
      },
      run: { inputs in
        let arrays = inputs.compactMap { if case .tensor(let tensor) = $0 { MultiArray(tensor) } else { nil } }
        let expected = try layer.outputShapes(forInputShapes: arrays.map(\.shape))
        let outputs = try layer.evaluate(arrays)
        guard outputs.map(\.shape) == expected else {
          throw CustomCodeFault(
            description: "outputShapes(forInputShapes:) gives \(expected), evaluate(_:) gives \(outputs.map(\.shape))")
        }
        return outputs.map { .tensor($0.tensor.converted(to: .float32)) }
      })
  }

  fileprivate init(_ model: any CustomModel, _ function: Function) {
    let given = FeatureBinding(function: function)
    // The outputs are read as if they were the inputs of a model.
    let results = FeatureBinding(function: Function(inputs: function.outputs, outputs: function.inputs, parts: []))
    self.init(
      types: { _ in function.outputs.map { _ in .unknown } },
      run: { inputs in
        var values: [String: FeatureValue] = [:]
        for (feature, value) in zip(function.inputs, inputs) { values[feature.name] = try given.value(value, feature) }
        let output = try model.prediction(from: DictionaryFeatureProvider(dictionary: values))
        let named = try results.values(output)
        return try function.outputs.map { try results.hostValue($0.name, named) }
      })
  }
}

/// An error that the custom code made.
private struct CustomCodeFault: Error, CustomStringConvertible {
  let description: String
}
