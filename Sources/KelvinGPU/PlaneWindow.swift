package import KelvinDevices
package import KelvinGraph

/// A window over one or two spatial axes, as two: heights and what is vertical come first.
package struct PlaneWindow: Hashable, Sendable {
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
    guard window.rank <= 2 else { throw context.unsupported("windows over \(window.rank) spatial axes") }
    guard (window.before + window.after).allSatisfy({ $0 < 1 << 24 }) else {
      throw context.unsupported("padding of 2^24 elements and more")
    }
    func plane(_ values: [Int], _ filler: Int) -> [Int] { values.count == 1 ? [filler] + values : values }
    input = plane(Array(context.inputs[0].shape.dimensions.dropFirst(2)), 1)
    output = plane(Array(context.outputs[0].shape.dimensions.dropFirst(2)), 1)
    kernel = plane(window.kernel, 1)
    strides = plane(window.strides, 1)
    dilations = plane(window.dilations, 1)
    before = plane(window.before, 0)
    after = plane(window.after, 0)
  }

  /// One window over a whole plane of `area` elements.
  package init(over area: Int) {
    (input, output, kernel) = ([1, area], [1, 1], [1, area])
    (strides, dilations, before, after) = ([1, 1], [1, 1], [0, 0], [0, 0])
  }

  /// One that looks at each of so many positions alone.
  package init(positions: Int) {
    (input, output, kernel) = ([1, positions], [1, positions], [1, 1])
    (strides, dilations, before, after) = ([1, 1], [1, 1], [0, 0], [0, 0])
  }

  package var taps: Int { kernel[0] * kernel[1] }
  package var inputArea: Int { input[0] * input[1] }
  package var outputArea: Int { output[0] * output[1] }
}
