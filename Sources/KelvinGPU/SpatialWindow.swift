package import KelvinDevices
package import KelvinGraph

/// A window over the number of spatial axes that kernels take. Missing axes come first and have one element.
package struct SpatialWindow: Hashable, Sendable {
  package let input: [Int]
  package let output: [Int]
  package let kernel: [Int]
  package let strides: [Int]
  package let dilations: [Int]
  package let before: [Int]
  package let after: [Int]

  /// Creates the window that a node slides over its first input.
  ///
  /// - Parameter axes: the number of axes that kernels take.
  /// - Throws: `.unsupported` for more axes, or for padding that kernels cannot count.
  package init<Target>(_ window: Window, axes: Int, _ context: KernelContext<Target>) throws(DeviceError) {
    guard window.rank <= axes else { throw context.unsupported("windows over \(window.rank) spatial axes") }
    guard (window.before + window.after).allSatisfy({ $0 < 1 << 24 }) else {
      throw context.unsupported("padding of 2^24 elements and more")
    }
    func padded(_ values: [Int], _ filler: Int) -> [Int] {
      [Int](repeating: filler, count: axes - values.count) + values
    }
    input = padded(Array(context.inputs[0].shape.dimensions.dropFirst(2)), 1)
    output = padded(Array(context.outputs[0].shape.dimensions.dropFirst(2)), 1)
    kernel = padded(window.kernel, 1)
    strides = padded(window.strides, 1)
    dilations = padded(window.dilations, 1)
    before = padded(window.before, 0)
    after = padded(window.after, 0)
  }

  /// Creates one window over a whole plane of `area` elements.
  package init(over area: Int) {
    (input, output, kernel) = ([1, area], [1, 1], [1, area])
    (strides, dilations, before, after) = ([1, 1], [1, 1], [0, 0], [0, 0])
  }

  /// Creates a window of one element at each position.
  package init(positions: Int, axes: Int) {
    let ones = [Int](repeating: 1, count: axes)
    (kernel, strides, dilations) = (ones, ones, ones)
    (before, after) = (ones.map { _ in 0 }, ones.map { _ in 0 })
    input = ones.dropLast() + [positions]
    output = input
  }

  package var taps: Int { kernel.reduce(1, *) }
  package var inputCount: Int { input.reduce(1, *) }
  package var outputCount: Int { output.reduce(1, *) }
  /// The parameters of a window besides its sizes, in the order of the kernels.
  package var geometry: [Int] { kernel + strides + dilations + before }
  /// Whether each output position reads only the input at that position.
  package var isPointwise: Bool {
    taps == 1 && input == output && strides.allSatisfy { $0 == 1 } && before.allSatisfy { $0 == 0 }
  }
}
