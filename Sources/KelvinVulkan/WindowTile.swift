import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A rectangle of positions by output channels that a group computes of a convolution of few channels. Its invocations
/// share in local memory what their windows see of the input (`Shaders/staged_product_windows.comp`).
package struct WindowTile: Hashable, Sendable {
  /// Positions down and across, and output channels, of a group.
  package let lines, columns, channels: Int
  /// Positions of an invocation.
  let pixels: Int

  /// Tiles of many positions read less, those of few fit the local memory with more input channels.
  private static let all = [
    WindowTile(lines: 8, columns: 16, channels: 16, pixels: 8),
    WindowTile(lines: 8, columns: 16, channels: 32, pixels: 8),
    WindowTile(lines: 8, columns: 8, channels: 16, pixels: 4),
    WindowTile(lines: 8, columns: 8, channels: 32, pixels: 4),
  ]
  /// The key of offers with this implementation.
  static let implementation = "rectangles"
  /// Input vectors that an invocation reads together.
  private static let together = 4

  private var invocations: Int { lines * columns / pixels * (channels / 4) }
  var name: String { "\(lines)x\(columns)x\(channels)" }

  /// Returns the tiles that a device has for a convolution, best first. Two groups fit the local memory of a compute
  /// unit.
  static func all(_ product: TiledProduct, _ traits: VulkanTraits) -> [WindowTile] {
    guard product.phases == nil, product.groups == 1, product.layout != .dense, product.window.taps > 1,
      product.outputs > StagedTile.packed / 2, product.size.positions > 0, product.size.depth > 0,
      product.size.depth < StagedTile.depthLimit
    else { return [] }
    return all.filter {
      $0.invocations <= traits.widestGroup && 2 * $0.localByteCount(product) <= traits.localMemory
        && product.cut(by: .windows($0)).fits(traits)
    }.sorted { $0.cacheBytes(product) < $1.cacheBytes(product) }
  }

  /// Whether the tile reads few enough bytes of a product of which staged tiles read many, and keeps the device busy.
  func isBetter(than staged: StagedProduct, _ product: TiledProduct, _ traits: VulkanTraits) -> Bool {
    let isShort =
      steps(product) <= StagedProduct.longestChain
      || groups(product) >= StagedProduct.groupsPerUnit * traits.computeUnits
    return isShort && StagedProduct.isHungry(product.size, staged.cacheBytes(product.size))
      && !StagedProduct.isHungry(product.size, cacheBytes(product))
  }

  private func blocks(_ product: TiledProduct) -> Int { (product.inputs + 3) / 4 }

  /// Vectors of the input that the windows of a rectangle see.
  private func seen(_ product: TiledProduct) -> Int {
    let window = product.window
    return zip([lines, columns], 0...).reduce(blocks(product)) { count, side in
      let (positions, axis) = side
      return count * ((positions - 1) * window.strides[axis] + (window.kernel[axis] - 1) * window.dilations[axis] + 1)
    }
  }

  /// The bytes of local memory, with the shader's gaps between lines.
  private func localByteCount(_ product: TiledProduct) -> Int {
    16 * (seen(product) + 1 + channels / 16 * (4 * StagedTile.slab + 4))
  }

  private func rectangles(_ product: TiledProduct) -> (down: Int, across: Int, all: Int) {
    let down = (product.plane[0] + lines - 1) / lines
    let across = (product.plane[1] + columns - 1) / columns
    return (down, across, product.batch * down * across)
  }

  private func groups(_ product: TiledProduct) -> Int {
    rectangles(product).all * ((product.outputs + channels - 1) / channels)
  }

  /// Reads of the input, and slabs of the depth, that a group waits for one after another.
  private func steps(_ product: TiledProduct) -> Int {
    (seen(product) + Self.together * invocations - 1) / (Self.together * invocations)
      + (product.size.depth + StagedTile.slab - 1) / StagedTile.slab
  }

  /// Bytes that all groups read from the cache.
  private func cacheBytes(_ product: TiledProduct) -> Double {
    Double(groups(product)) * Double(16 * seen(product) + 4 * product.size.depth * channels)
  }

  /// Adds the kernel.
  func run(
    _ product: TiledProduct, _ lowering: VulkanLowering, _ operands: [Storage], _ residual: Storage?,
    _ epilogue: Epilogue, _ result: Storage
  ) {
    let (target, window, rectangles) = (lowering.target, product.window, rectangles(product))
    let others = residual.map { [$0] } ?? []
    let (columns, z) = target.folded(rectangles.all)
    let call = target.call(
      "staged_product_windows", [.float4, .packed4, .float4] + others.map { _ in .float4 }, group: invocations,
      specializationConstants: [
        lines, self.columns, channels, pixels, seen(product), residual == nil ? 0 : 1, epilogue.activationCode,
      ],
      Parameters(
        [blocks(product), (product.outputs + 3) / 4, product.outputs, rectangles.all, rectangles.down]
          + [rectangles.across] + window.output + window.input + window.geometry
      ).inverses(blocks(product), window.kernel[1]).activation(epilogue), groups: [columns, product.planes, z])
    lowering.run(call, operands + others, result)
  }
}
