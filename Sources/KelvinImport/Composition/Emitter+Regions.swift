import KelvinBasics
package import KelvinGraph

extension Emitter {
  /// The number of regions around the nodes that are being emitted.
  package var depth: Int { builder.depth }

  /// Returns a value of an outer graph as the current region reads it.
  package func value(_ id: ValueID, of depth: Int) -> ValueID { builder.value(id, of: depth) }

  package func weight(_ id: ValueID, of depth: Int) -> Weight? { builder.weight(id, of: depth) }

  /// Adds a tensor that persists between predictions; `write` sets its value at the end of a prediction.
  package func state(_ name: String, _ type: TensorType) throws -> ValueID { try builder.state(name, type) }

  package func write(_ id: ValueID, to state: String) { builder.write(id, to: state) }

  /// Emits a region of the current operation.
  ///
  /// - Parameter write: Adds the region's inputs and nodes and returns its outputs.
  package func region(_ role: Region.Role, _ write: () throws -> [ValueID]) throws -> WrittenRegion {
    let (origin, outputNames, depths) = (origin, outputNames, depths)
    builder.beginRegion()
    self.depths = [:]
    defer {
      self.depths = depths
      begin(origin, outputNames: outputNames)
    }
    do { return builder.endRegion(role, outputs: try write()) } catch {
      builder.leaveRegion()
      throw error
    }
  }

  /// Adds control flow.
  ///
  /// - Parameter step: The name of the control flow as a step of the operation. Nil if it yields the operation's
  ///   outputs, optionally followed by other results of the operator.
  package func addControl(
    _ op: some ControlOperator, _ inputs: [ValueID], _ regions: [WrittenRegion], results: Int, step: String? = nil
  ) throws -> [ValueID] {
    let node = step.map { "\(name)/\($0)" } ?? name
    let own = step == nil ? outputNames : []
    let names = (0..<results).map { index in
      index < own.count && !own[index].isEmpty ? own[index] : "\(node)/result\(index)"
    }
    do {
      return try builder.add(op, inputs, regions: regions, name: node, outputNames: names, origin: origin)
    } catch { throw invalid(error.reason) }
  }

  /// Returns a loop's limit for a number of iterations that the model computes. A negative number means no iterations,
  /// while a negative limit would mean no limit.
  package func tripLimit(_ trips: ValueID) throws -> ValueID {
    try binary(.maximum, trips, constant(integers: [0], .int64, shape: []), step: "limit")
  }

  /// One side of a branch.
  package struct Side {
    /// The operations of the side that are not supported.
    package var missing: MissingOperations
    /// Emits the side and returns its outputs.
    package var write: () throws -> [ValueID]

    package init(missing: MissingOperations, write: @escaping () throws -> [ValueID]) {
      self.missing = missing
      self.write = write
    }
  }

  /// Emits a branch. If its condition is known while the graph is built, as in models whose exporter tests a size, the
  /// taken side is emitted in place. Otherwise both sides become regions. One of them may then be unsupported, or
  /// invalid for the given sizes.
  ///
  /// - Parameter flow: The name of the branch in requests to execute it on the host.
  /// - Throws: `DynamicShapeControlFlow` if the sides give different types.
  package func branch(_ condition: ValueID, then: Side, otherwise: Side, file: String, flow: String) throws -> [ValueID]
  {
    if let known = try number(condition) {
      let taken = known != 0 ? then : otherwise
      guard taken.missing.list.isEmpty else { throw FormatError.missing(taken.missing.list, file: file) }
      return try taken.write()
    }
    var fault: (any Error)?
    let regions = try [(Region.Role.then, then), (.otherwise, otherwise)].map { role, side in
      guard side.missing.list.isEmpty else {
        return WrittenRegion(role, refusal: FormatError.missing(side.missing.list, file: file).reason)
      }
      do { return try region(role, side.write) } catch let error as FormatError
        where error.code == .unsupported || error.code == .missing
      {
        return WrittenRegion(role, refusal: error.description)
      } catch let error where Self.isFault(error) && fault == nil && !WorkBudget.isSpent {
        fault = error
        return WrittenRegion(role, refusal: "\(error)")
      }
    }
    if let fault, regions.allSatisfy({ $0.refusal != nil }) { throw fault }
    return try branch(condition, regions, file: file, flow: flow)
  }

  /// Whether an error is about the contents of a side, for these sizes or for all.
  private static func isFault(_ error: any Error) -> Bool {
    error is GraphError || (error as? FormatError)?.code == .malformed
  }

  private func branch(_ condition: ValueID, _ regions: [WrittenRegion], file: String, flow: String) throws -> [ValueID]
  {
    guard let runnable = regions.first(where: { $0.refusal == nil }) else {
      let reasons = regions.compactMap(\.refusal).joined(separator: "; ")
      throw FormatError(
        .unsupported, file: file, place: "\(origin.kind) '\(name)'", "neither of its branches can run: \(reasons)")
    }
    let results = runnable.graph.types(runnable.graph.outputs)
    for region in regions where region.refusal == nil {
      let types = region.graph.types(region.graph.outputs)
      guard types == results else {
        throw DynamicShapeControlFlow(
          flow,
          FormatError(
            .unsupported, file: file, place: "\(origin.kind) '\(name)'",
            "its branches give \(results) and \(types), and the branch is chosen only when it runs",
            remedy: "export both branches with the same sizes"))
      }
    }
    guard type(condition).count == 1 else { throw invalid("its condition is \(type(condition)), expected one element") }
    return try addControl(Branch(results: results), [condition], regions, results: results.count)
  }

  /// Returns a single boolean in scalar shape, from any type and shape of one element.
  package func flag(_ x: ValueID, step: String) throws -> ValueID {
    guard type(x).count == 1 else { throw invalid("a condition is \(type(x)), expected one element") }
    return try reshape(try cast(x, to: .bool, step: step), [], step: step)
  }
}
