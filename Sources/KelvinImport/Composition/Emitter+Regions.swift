import KelvinBasics
package import KelvinGraph

extension Emitter {
  /// How many regions the one that is being written lies in.
  package var depth: Int { builder.depth }

  /// A value of a graph further out, as the region that is being written reads it.
  package func value(_ id: ValueID, of depth: Int) -> ValueID { builder.value(id, of: depth) }

  package func weight(_ id: ValueID, of depth: Int) -> Weight? { builder.weight(id, of: depth) }

  /// Adds a tensor that outlives a prediction; `write` says what it is left with.
  package func state(_ name: String, _ type: TensorType) throws -> ValueID { try builder.state(name, type) }

  package func write(_ id: ValueID, to state: String) { builder.write(id, to: state) }

  /// Writes a region of the operation that is being written.
  ///
  /// - Parameter write: adds its inputs and nodes and returns its outputs.
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
  /// - Parameter step: what it does within the operation; nil where it yields the operation's outputs, and whatever results
  ///   the operator has behind them.
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

  /// The limit of a loop from a number of trips that the model computes: a negative number makes none, while a negative
  /// limit would be none.
  package func tripLimit(_ trips: ValueID) throws -> ValueID {
    try binary(.maximum, trips, constant(integers: [0], .int64, shape: []), step: "limit")
  }

  /// One side of a branch as the formats have it.
  package struct Side {
    /// What it needs and Kelvin lacks.
    package var missing: MissingOperations
    /// Writes it and returns its outputs.
    package var write: () throws -> [ValueID]

    package init(missing: MissingOperations, write: @escaping () throws -> [ValueID]) {
      self.missing = missing
      self.write = write
    }
  }

  /// A branch. Where its condition is known while the graph is built, as exporters leave it where they ask for a size,
  /// the side that it takes is written in place; else both become regions, of which one may lack what Kelvin lacks, or be
  /// meant for other sizes.
  ///
  /// - Parameter flow: its name where it has to be walked.
  /// - Throws: `DynamicShapeControlFlow` where the sides give different types.
  package func branch(_ condition: ValueID, then: Side, otherwise: Side, file: String, flow: String) throws -> [ValueID] {
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

  /// Whether an error is about what a side says, for these sizes or for all.
  private static func isFault(_ error: any Error) -> Bool {
    error is GraphError || (error as? FormatError)?.code == .malformed
  }

  private func branch(_ condition: ValueID, _ regions: [WrittenRegion], file: String, flow: String) throws -> [ValueID] {
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
            "its sides give \(results) and \(types), and which one is taken is known only when it runs",
            remedy: "let both give the same"))
      }
    }
    guard type(condition).count == 1 else { throw invalid("its condition is \(type(condition)), expected one element") }
    return try addControl(Branch(results: results), [condition], regions, results: results.count)
  }

  /// One truth value, whatever type and shape it was given in.
  package func flag(_ x: ValueID, step: String) throws -> ValueID {
    guard type(x).count == 1 else { throw invalid("a condition is \(type(x)), expected one element") }
    return try reshape(try cast(x, to: .bool, step: step), [], step: step)
  }
}
