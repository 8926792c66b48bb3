import KelvinDevices
import KelvinGraph

/// A segment as kernels on slots of memory: one slot for each value, and another for each layout that the value is
/// converted to.
struct CPUProgram {
  struct Slot {
    let value: ValueID
    let byteCount: Int
  }

  struct Step {
    let kernel: CPUKernel
    let inputs: [Int]
    let outputs: [Int]
    /// The node that the step counts for.
    let node: Int
    /// Whether the step computes the node; otherwise it converts a value to another layout.
    let isNode: Bool
  }

  /// The slots. The first are the values of the graph in order.
  private(set) var slots: [Slot]
  private(set) var steps: [Step] = []
  /// The slots of the segment's dense outputs.
  private(set) var outputs: [Int] = []
  private(set) var chains = ElementChains([], slots: [])

  init(_ selection: KernelSelection<CPUKernel>) {
    let graph = selection.graph
    func slot(_ id: ValueID, _ layout: ValueLayout) -> Slot {
      let type = graph[id].type
      let count = layout.fits(type.shape) ? layout.count(of: type.shape) : type.count
      return Slot(value: id, byteCount: count * type.scalar.innerByteCount)
    }
    slots = graph.values.indices.map { slot(ValueID($0), .dense) }
    var places: [ValueID: [ValueLayout: Int]] = [:]
    for id in graph.inputs { places[id] = [.dense: id.index] }
    var conversions = selection.layouts.conversions[...]
    for (index, node) in graph.nodes.enumerated() {
      while let next = conversions.first, next.node == index, !next.isAfter {
        convert(conversions.removeFirst(), graph, &places, slot)
      }
      let offer = selection.offers[index]
      for (position, output) in node.outputs.enumerated() {
        let layout = offer.layouts.write(position)
        places[output] = [layout: output.index]
        slots[output.index] = slot(output, layout)
      }
      let inputs = node.inputs.enumerated().map { position, input in
        places[input]?[offer.layouts.read(position)] ?? input.index
      }
      steps.append(
        Step(
          kernel: offer.kernel, inputs: inputs, outputs: node.outputs.map(\.index), node: index, isNode: true))
      while let next = conversions.first, next.node == index {
        convert(conversions.removeFirst(), graph, &places, slot)
      }
    }
    outputs = graph.outputs.map { places[$0]?[.dense] ?? $0.index }
    chains = ElementChains(steps, slots: slots)
  }

  private mutating func convert(
    _ conversion: LayoutPlan.Conversion, _ graph: Graph, _ places: inout [ValueID: [ValueLayout: Int]],
    _ slot: (ValueID, ValueLayout) -> Slot
  ) {
    guard let source = places[conversion.value]?[conversion.from] else {
      preconditionFailure("a layout plan converts values with other layouts")
    }
    places[conversion.value]?[conversion.to] = slots.count
    steps.append(
      Step(
        kernel: .conversion(graph[conversion.value].type, from: conversion.from, to: conversion.to),
        inputs: [source], outputs: [slots.count], node: conversion.node, isNode: false))
    slots.append(slot(conversion.value, conversion.to))
  }
}
