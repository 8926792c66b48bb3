import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  private static let longestReach = 1 << 24
  private static let scratchLimit = 64 << 20

  /// Returns the bytes of scratch in which a thread keeps the padded rows that one row of windows covers.
  func scratch(for window: inout ck_window) throws(DeviceError) -> Int {
    let byteCount = 4 * variant.kernels.window_elements(&window)
    try checkScratch(byteCount)
    return byteCount
  }

  func checkScratch(_ byteCount: Int) throws(DeviceError) {
    guard byteCount <= Self.scratchLimit else {
      throw unsupported("windows that cover \(byteCount) bytes of padded input, more than \(Self.scratchLimit)")
    }
  }

  /// Returns a window of one to three axes, as the kernels see it.
  func window(_ window: Window, input: Shape, output: Shape) throws(DeviceError) -> ck_window {
    guard window.rank <= 3 else { throw unsupported("windows of \(window.rank) axes") }
    for axis in 0..<window.rank where (window.kernel[axis] - 1) * window.dilations[axis] > Self.longestReach {
      throw unsupported("windows that reach over more than \(Self.longestReach) elements")
    }
    func axes(_ values: [Int], _ missing: Int) -> (z: Int, y: Int, x: Int) {
      let all = [Int](repeating: missing, count: 3 - values.count) + values
      return (all[0], all[1], all[2])
    }
    let size = axes(Array(input.dimensions.dropFirst(2)), 1)
    let out = axes(Array(output.dimensions.dropFirst(2)), 1)
    let kernel = axes(window.kernel, 1)
    let stride = axes(window.strides, 1)
    let dilation = axes(window.dilations, 1)
    let before = axes(window.before, 0)
    return ck_window(
      height: size.y, width: size.x, kernel_height: kernel.y, kernel_width: kernel.x, stride_y: stride.y,
      stride_x: stride.x, dilation_y: dilation.y, dilation_x: dilation.x, before_y: before.y, before_x: before.x,
      out_height: out.y, out_width: out.x,
      slices: ck_window_axis(
        size: size.z, kernel: kernel.z, stride: stride.z, dilation: dilation.z, before: before.z, out: out.z))
  }
}

extension ck_window {
  /// The number of results of a channel.
  var outputCount: Int { slices.out * out_height * out_width }
  /// The number of elements of a channel that windows read.
  var inputCount: Int { slices.size * height * width }

  /// The same window of the same memory. If rows have one element, they become the columns of one row, because kernels
  /// compute neighboring columns together.
  var alongColumns: ck_window {
    guard width == 1, out_width == 1, kernel_width == 1, before_x == 0 else { return self }
    var turned = self
    swap(&turned.height, &turned.width)
    swap(&turned.out_height, &turned.out_width)
    swap(&turned.kernel_height, &turned.kernel_width)
    swap(&turned.stride_y, &turned.stride_x)
    swap(&turned.dilation_y, &turned.dilation_x)
    swap(&turned.before_y, &turned.before_x)
    return turned
  }
}

extension ck_window_axis {
  /// The slices of a plane.
  static let one = ck_window_axis(size: 1, kernel: 1, stride: 1, dilation: 1, before: 0, out: 1)
}
