package import KelvinFeatures
package import KelvinGraph
package import KelvinHostOperations

/// A function that consists only of host operations, executed for many rows at once: each operation for all rows,
/// before the next one.
package struct RowExecutor: Sendable {
  private let steps: [any RowColumnOperation]

  /// Nil for a function that has graphs, operations that take one value at a time, or features that are not columns
  /// of numbers.
  package init?(_ function: Function) {
    var steps: [any RowColumnOperation] = []
    for part in function.parts {
      guard case .host(let step) = part, let step = step as? any RowColumnOperation else { return nil }
      steps.append(step)
    }
    guard function.inputs.allSatisfy({ Self.takes($0, steps) }), function.outputs.allSatisfy({ Self.gives($0, steps) })
    else {
      return nil
    }
    self.steps = steps
  }

  private static func takes(_ feature: Feature, _ steps: [any RowColumnOperation]) -> Bool {
    guard feature.rowWidth != nil else { return false }
    // Only operations that join inputs have replacement values for missing inputs.
    return !feature.isOptional || feature.defaultValue != nil
      || steps.allSatisfy { !$0.inputs.contains(feature.name) || $0.joinsInputs }
  }

  private static func gives(_ feature: Feature, _ steps: [any RowColumnOperation]) -> Bool {
    switch feature.type {
    case .int64, .double, .string, .dictionary, .dictionaries, .tensor: true
    case .strings: steps.contains { $0.labelLists[feature.name] != nil }
    case .image, .sequence, .tensors, .state: false
    }
  }

  /// Returns the outputs of all rows, by slot.
  ///
  /// - Parameter inputs: every input of the function, as `count` rows each.
  /// - Throws: `ModelError` naming the input of an operation that does not fit.
  package func run(_ inputs: [String: RowColumn], count: Int) throws(ModelError) -> [String: RowColumn] {
    try ModelError.wrapping {
      var slots = inputs
      for step in steps {
        let written = try step.run(step.inputs.map { slots[$0] ?? .absent }, count: count)
        for (slot, column) in zip(step.outputs, written) { slots[slot] = column }
      }
      return slots
    }
  }
}

extension Feature {
  /// The shape of the array for one row of a table, if known. A flexible first size is the batch size, which is 1 for
  /// a row.
  package var rowShape: Shape? {
    guard case .tensor(_, let dimensions) = type else { return nil }
    var sizes: [Int] = []
    for (axis, dimension) in dimensions.enumerated() {
      switch dimension {
      case .fixed(let size): sizes.append(size)
      case .flexible where axis == 0 && dimensions.count > 1 && dimension.accepts(1): sizes.append(1)
      case .flexible: return nil
      }
    }
    return Shape(sizes).isAddressable ? Shape(sizes) : nil
  }

  /// The number of values in a row of a table for this feature; nil if it takes none or any number.
  package var rowWidth: Int? {
    switch type {
    case .int64, .double: 1
    case .tensor: rowShape?.count
    default: nil
    }
  }
}
