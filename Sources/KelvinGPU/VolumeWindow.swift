package import KelvinDevices
package import KelvinGraph

/// A window over one to three spatial axes, as three: what is missing comes first, with one element.
package struct VolumeWindow: Hashable, Sendable {
  package let input: [Int]
  package let output: [Int]
  package let kernel: [Int]
  package let strides: [Int]
  package let dilations: [Int]
  package let before: [Int]
  package let after: [Int]

  /// The window of a node that slides it over its first input.
  ///
  /// - Throws: `.unsupported` for more axes, or for padding that kernels cannot count.
  package init<Target>(_ window: Window, _ context: KernelContext<Target>) throws(DeviceError) {
    guard window.rank <= 3 else { throw context.unsupported("windows over \(window.rank) spatial axes") }
    guard (window.before + window.after).allSatisfy({ $0 < 1 << 24 }) else {
      throw context.unsupported("padding of 2^24 elements and more")
    }
    func volume(_ values: [Int], _ filler: Int) -> [Int] {
      [Int](repeating: filler, count: 3 - values.count) + values
    }
    input = volume(Array(context.inputs[0].shape.dimensions.dropFirst(2)), 1)
    output = volume(Array(context.outputs[0].shape.dimensions.dropFirst(2)), 1)
    kernel = volume(window.kernel, 1)
    strides = volume(window.strides, 1)
    dilations = volume(window.dilations, 1)
    before = volume(window.before, 0)
    after = volume(window.after, 0)
  }

  /// One that looks at each of so many positions alone.
  package init(positions: Int) {
    (input, output) = ([1, 1, positions], [1, 1, positions])
    (kernel, strides, dilations) = ([1, 1, 1], [1, 1, 1], [1, 1, 1])
    (before, after) = ([0, 0, 0], [0, 0, 0])
  }

  package var taps: Int { kernel.reduce(1, *) }
  package var inputCount: Int { input.reduce(1, *) }
  package var outputCount: Int { output.reduce(1, *) }
  /// Whether each output reads the input at its own place alone.
  package var isPointwise: Bool { taps == 1 && input == output && before == [0, 0, 0] && strides == [1, 1, 1] }
  /// The sizes and steps that kernels are told, but the output's.
  package var parameters: [Int] { input + kernel + strides + dilations + before }
}
