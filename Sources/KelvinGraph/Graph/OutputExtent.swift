/// A declaration that an output has a data-dependent size: along one axis only the first elements are valid, as many as
/// another output counts.
///
/// Extents exist for outputs only. Inside, a graph has concrete types; parts that need the exact size read it between
/// two graphs. Outputs are identified by index, which passes do not change.
package struct OutputExtent: Hashable, Sendable {
  /// The index of the output in `Graph.outputs`.
  package var output: Int
  package var axis: Int
  /// The index of the output that holds the count, one integer.
  package var count: Int

  package init(output: Int, axis: Int, count: Int) {
    self.output = output
    self.axis = axis
    self.count = count
  }
}

extension Graph {
  /// Returns the valid part of an output: the counted elements along the axis.
  ///
  /// - Parameter tensor: Returns the tensor of an output, in the output's type, or a part of it.
  /// - Throws: `GraphError` for a count that is negative or exceeds the size of the axis.
  package func exactOutput(
    _ output: Int, _ tensor: (Int, Part.Operand?) -> Tensor
  ) throws(GraphError) -> Tensor {
    var exact: Tensor?
    for extent in extents where extent.output == output {
      let count = tensor(extent.count, nil).integers.first ?? 0
      let room = self[outputs[output]].type.shape[extent.axis]
      guard (0...room).contains(count) else {
        throw GraphError(
          "output '\(self[outputs[output]].name)'",
          "\(count) elements were counted along axis \(extent.axis), which has room for \(room); check the inputs that "
            + "the count is computed from")
      }
      let part = Part.Operand(axis: extent.axis, range: 0..<count)
      exact = exact?.part(part) ?? tensor(output, part)
    }
    return exact ?? tensor(output, nil)
  }

  func verifyExtents() throws(GraphError) {
    for extent in extents {
      guard outputs.indices.contains(extent.output), outputs.indices.contains(extent.count) else {
        throw GraphError(
          "graph outputs", "an extent names the outputs \(extent.output) and \(extent.count), of \(outputs.count)")
      }
      let (bounded, count) = (self[outputs[extent.output]], self[outputs[extent.count]])
      let place = "output '\(bounded.name)'"
      guard bounded.type.shape.dimensions.indices.contains(extent.axis) else {
        throw GraphError(place, "\(bounded.type) has no axis \(extent.axis) to count along")
      }
      guard count.type.count == 1, !count.type.scalar.isFloatingPoint, count.type.scalar != .bool else {
        throw GraphError(place, "is counted by '\(count.name)', a \(count.type), expected one integer")
      }
    }
  }
}
