import KelvinDevices
import KelvinGPU
import KelvinGraph

/// How a staged product multiplies. Results depend on it.
package enum StagedArithmetic: Hashable, Sendable {
  /// In float32.
  case wide
  /// In float16, with sums of a slab in float16 and of slabs in float32.
  case narrow
  /// By matrices of float16 in subgroups of as many lanes, with sums in float32.
  case matrices(CooperativeMatrix, lanes: Int)

  /// The key of offers with this arithmetic.
  var implementation: String {
    switch self {
    case .wide: "staged"
    case .narrow: "staged in float16"
    case .matrices: "cooperative"
    }
  }

  /// The end of the shader's name, before what all shaders have.
  var shaderSuffix: String {
    switch self {
    case .wide: ""
    case .narrow: "_narrow"
    case .matrices: "_cooperative"
    }
  }

  /// Input channels of a slab of the depth.
  var slab: Int { if case .matrices = self { 2 * StagedTile.slab } else { StagedTile.slab } }
  /// Bytes of an operand's element in local memory.
  var byteCount: Int { self == .wide ? 4 : 2 }
  /// Typical of cards: multiply-adds in the time of one in float32.
  var speed: Double {
    switch self {
    case .wide: 1
    case .narrow: 2
    case .matrices: 4
    }
  }
}

extension StagedTile {
  /// Returns the tiles of a device in each arithmetic.
  ///
  /// - Parameters:
  ///   - lanes: the subgroup's, of which a group with matrices is a whole number.
  ///   - byteLimit: the size of local memory.
  package static func all(
    _ matrix: CooperativeMatrix?, multipliesHalves: Bool, lanes: Int, invocations: Int, byteLimit: Int
  ) -> [StagedTile] {
    var arithmetics: [StagedArithmetic] = multipliesHalves ? [.wide, .narrow] : [.wide]
    if let matrix { arithmetics.append(.matrices(matrix, lanes: lanes)) }
    return arithmetics.flatMap { arithmetic in
      all.map { $0.computed(in: arithmetic) }.filter {
        arithmetic.cuts($0) && $0.invocations <= invocations && $0.localByteCount <= byteLimit
      }
    }
  }

  /// Returns the same tile in another arithmetic.
  package func computed(in arithmetic: StagedArithmetic) -> StagedTile {
    var tile = self
    tile.arithmetic = arithmetic
    return tile
  }
}

extension StagedArithmetic {
  /// Whether whole matrices and subgroups make a tile.
  fileprivate func cuts(_ tile: StagedTile) -> Bool {
    guard case .matrices(let matrix, let lanes) = self else { return true }
    return tile.positions % matrix.rows == 0 && tile.channels % matrix.columns == 0 && tile.invocations % lanes == 0
  }
}

extension KernelContext<VulkanTarget> {
  /// The arithmetics of a staged product, best first. All but float32 need operands stored as float16. Sums in float16
  /// are for low precision, at which float32 is stored as float16 too.
  var stagedArithmetics: [StagedArithmetic] {
    guard (inputs + outputs).allSatisfy({ target.isHalf($0.scalar) }) else { return [.wide] }
    let traits = target.traits
    if let matrix = traits.cooperativeMatrix { return [.matrices(matrix, lanes: traits.lanes), .wide] }
    return traits.multipliesHalves && target.isHalf(.float32) ? [.narrow, .wide] : [.wide]
  }
}
