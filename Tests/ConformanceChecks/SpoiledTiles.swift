import KelvinBasics
import KelvinConformance
package import KelvinDevices
package import KelvinGraph

/// A 3 × 3 convolution of small numbers, with a few elements each of which would spoil a whole tile of Winograd's
/// algorithm.
package struct SpoiledTiles {
  package let graph: Graph
  package let inputs: [Tensor]
  private let expected: [Float]

  /// - Parameters:
  ///   - shape: the shape of the input.
  ///   - number: the value of the spoiling elements: at an edge of the image, in the middle of a tile and at its
  ///     edge.
  package init(_ shape: Shape, filters: Int, number: Float, reference: any Device) throws(DeviceError) {
    var random = SeededGenerator(seed: 41)
    var values = Tensor.random(.float32, shape, -1...1, &random).doubles
    let (height, width) = (shape[2], shape[3])
    for index in [0, width * 7 + 8, width * height * 3 + width * (height - 1) + width - 1] {
      values[index] = Double(number)
    }
    let weights = Tensor.random(.float32, [filters, shape[1], 3, 3], -0.1...0.1, &random)
    let testCase = ConformanceCase.node(
      "spoiled", Convolution(window: Window(kernel: [3, 3], before: [1, 1], after: [1, 1])),
      .exactly(Tensor(TensorType(.float32, shape), rounding: values)), .fixed(weights))
    graph = testCase.graph
    inputs = testCase.inputs
    expected = try reference.run(graph, inputs).outputs[0].floats
  }

  /// Returns the number of results whose error exceeds rounding, or that are finite but should not be.
  ///
  /// - Parameter implementation: the implementation to use, which stores float16 at low precision; nil for the device's
  ///   choice at full precision.
  package func wrongCount(on device: any Device, low implementation: String? = nil) throws(DeviceError) -> Int {
    let actual = try device.run(
      graph, inputs, precision: implementation == nil ? .full : .low,
      implementations: implementation.map { [graph.nodes[0].name: $0] } ?? [:]
    ).outputs[0].floats
    let rounding: Float = implementation == nil ? 1e-5 : 2e-2
    let largest = expected.lazy.filter(\.isFinite).map(\.magnitude).max() ?? 0
    return zip(actual, expected).count { got, wanted in
      guard wanted.isFinite else { return got != wanted && !(got.isNaN && wanted.isNaN) }
      // Winograd's transform determines taps up to a rounding error of the largest one.
      let reach = wanted.magnitude > 1e3 ? 1e-2 * wanted.magnitude + 1e-7 * largest : rounding
      return !((got - wanted).magnitude <= max(reach, rounding * wanted.magnitude))
    }
  }
}
