import KelvinBasics
import KelvinFeatures
import KelvinGraph
import KelvinPlanning
package import KelvinRuntime

/// The batches that the predictions of a graph form along the first axis of all inputs and outputs.
struct PredictionBatches: Sendable {
  /// The graph of one prediction.
  let graph: LoadedGraph
  let queue: BatchQueue<[Tensor], GraphOutputs>

  /// Whether a prediction with inputs of these shapes can be part of a batch.
  func takes(_ shapes: [String: Shape]) -> Bool { SlotTypes(shapes: shapes).fit(graph.context.graph) }
}

/// The outputs of the predictions of a batch.
struct BatchOutputs: TimedResult {
  let outputs: [GraphOutputs]
  let seconds: Double
}

extension Predictor {
  /// The relative gain of the predicted rate below which batches are not worth their latency.
  private static let leastGain = 0.03
  /// The largest difference of an answer in a batch from the same answer alone, relative to its largest number.
  private static let largestDifference = 1e-3

  /// Returns predictors whose concurrent predictions run as batches.
  ///
  /// A size is left out if the plans do not predict more answers per second for it. There is none for a model that is
  /// not a single graph, has an input or output whose first axis is not free, or answers differently in a batch, as one
  /// does that derives the scale of a quantization from all of its input.
  ///
  /// - Parameters:
  ///   - sizes: the most predictions in a batch, each a power of two above 1.
  ///   - graph: the graph of one prediction.
  /// - Throws: `cancelled`; the errors of planning and running.
  package func batching(
    _ sizes: [Int], of graph: LoadedGraph, _ cancellation: Cancellation?
  ) throws -> [(size: Int, predictor: Predictor)] {
    let alone = try graph.proven().explanation.solution.predicted
    return try sizes.compactMap { size in
      try cancellation?.check()
      guard let batched = loaded.batched(graph, size), let together = try? batched.proven(),
        together.explanation.solution.predicted < alone * Double(size) * (1 - Self.leastGain)
      else { return nil }
      let predictor = joining(PredictionBatches(graph: graph, queue: BatchQueue(limit: size)))
      // A size that fails, for example for want of memory, is left out.
      let isAlike = (try? predictor.answersAlike(size, graph, cancellation)) ?? false
      return isAlike ? (size, predictor) : nil
    }
  }

  /// Whether the answers of a batch of this size are those of its predictions alone.
  private func answersAlike(_ size: Int, _ graph: LoadedGraph, _ cancellation: Cancellation?) throws -> Bool {
    let batch = try (0..<size).map { place in
      let inputs = try loaded.syntheticTensors(for: graph, seed: UInt64(place))
      guard place % 2 == 1 else { return inputs }
      // Inputs of different magnitudes show a scale that is common to a batch.
      return inputs.map { input in
        guard input.type.scalar.isFloatingPoint else { return input }
        return Tensor(input.type, rounding: input.doubles.map { $0 / 64 })
      }
    }
    let together = try run(batch, of: graph).outputs
    return try zip(batch, together).allSatisfy { inputs, together in
      try cancellation?.check()
      let alone = try run([inputs], of: graph).outputs[0]
      return zip(alone.outputs, together.outputs).allSatisfy { alone, together in
        let (alone, together) = (alone.doubles, together.doubles)
        let most = Self.largestDifference * alone.reduce(0) { max($0, abs($1)) }
        return zip(alone, together).allSatisfy { $0 == $1 || abs($0 - $1) <= most }
      }
    }
  }

  /// Runs a batch of the only graph.
  ///
  /// - Parameters:
  ///   - batch: the graph's inputs of each prediction.
  ///   - graph: the graph of one prediction.
  func run(_ batch: [[Tensor]], of graph: LoadedGraph) throws -> BatchOutputs {
    try runGraph(for: graph.types.batched(batch.count)) { session in
      for index in batch[0].indices {
        session.withInput(index) { memory in
          var rest = memory[...]
          for inputs in batch {
            inputs[index].bytes.withUnsafeBytes { bytes in
              UnsafeMutableRawBufferPointer(rebasing: rest).copyMemory(from: bytes)
              rest = rest.dropFirst(bytes.count)
            }
          }
        }
      }
      let began = ContinuousClock.now
      try session.run()
      let seconds = (ContinuousClock.now - began).inSeconds
      let single = graph.context.graph
      let outputs = batch.indices.map { one in
        let tensors = single.outputs.enumerated().map { index, id in
          let type = single[id].type
          return session.withOutput(index) { elements in
            let part = elements.dropFirst(one * type.byteCount).prefix(type.byteCount)
            return Tensor(type, Bytes(copying: UnsafeRawBufferPointer(rebasing: part)))
          }
        }
        return GraphOutputs(outputs: tensors, seconds: seconds)
      }
      return BatchOutputs(outputs: outputs, seconds: seconds)
    }
  }
}

extension SlotTypes {
  /// Returns the types of so many of these inputs that are joined along their first axis.
  fileprivate func batched(_ count: Int) -> SlotTypes {
    SlotTypes(shapes: shapes.mapValues { Shape([count] + $0.dimensions.dropFirst()) })
  }
}

extension LoadedModel {
  /// Returns the graph for a batch; nil if the model cannot run it as one graph, or its results are not a batch.
  fileprivate func batched(_ graph: LoadedGraph, _ size: Int) -> LoadedGraph? {
    guard function.parts.count == 1, graphs.count == 1, graph.types.values.isEmpty, graph.types.computed.isEmpty,
      function.inputs.allSatisfy({ $0.takesBatch(of: size) })
    else { return nil }
    let single = graph.context.graph
    guard single.states.isEmpty, single.extents.isEmpty,
      graph.types.shapes.values.allSatisfy({ $0.dimensions.first == 1 }),
      let batched = try? self.graph(0, for: graph.types.batched(size))
    else { return nil }
    let joined = batched.context.graph
    guard joined.extents.isEmpty, joined.inputs.count == single.inputs.count,
      joined.outputs.count == single.outputs.count,
      zip(single.inputs + single.outputs, joined.inputs + joined.outputs).allSatisfy({ one, many in
        let (one, many) = (single[one].type, joined[many].type)
        return one.scalar == many.scalar && one.shape.dimensions.first == 1
          && many.shape.dimensions == [size] + one.shape.dimensions.dropFirst()
      })
    else { return nil }
    return batched
  }
}

extension Feature {
  /// Whether the first axis of a tensor may have this size.
  fileprivate func takesBatch(of size: Int) -> Bool {
    guard case .tensor(_, let dimensions) = type, allowedShapes.isEmpty,
      case .flexible(_, let range, _)? = dimensions.first
    else { return false }
    return range.contains(size) && range.contains(1)
  }
}
