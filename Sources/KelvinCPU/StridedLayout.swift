import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The axes of a loop over one or more strided tensors; neighbouring axes are merged if every tensor allows it.
struct StridedLayout {
  /// The sizes of at least one axis.
  private(set) var sizes: [Int]
  /// For each tensor, a stride for each axis.
  private(set) var strides: [[Int]]

  init(_ sizes: [Int], _ strides: [[Int]]) {
    var joinedSizes: [Int] = []
    var joinedStrides = strides.map { _ in [Int]() }
    for axis in sizes.indices where sizes[axis] != 1 {
      let canJoin =
        !joinedSizes.isEmpty
        && strides.indices.allSatisfy { joinedStrides[$0].last == strides[$0][axis] * sizes[axis] }
      if canJoin, let last = joinedSizes.indices.last {
        joinedSizes[last] *= sizes[axis]
        for tensor in strides.indices { joinedStrides[tensor][last] = strides[tensor][axis] }
      } else {
        joinedSizes.append(sizes[axis])
        for tensor in strides.indices { joinedStrides[tensor].append(strides[tensor][axis]) }
      }
    }
    if joinedSizes.isEmpty {
      joinedSizes = [1]
      joinedStrides = strides.map { _ in [1] }
    }
    self.sizes = joinedSizes
    self.strides = joinedStrides
  }

  /// The same loop with the axis along which the first tensor is contiguous just outside the last axis, so that a
  /// copy can transpose tiles of the two.
  var turned: StridedLayout {
    guard let last = sizes.indices.last, strides[0][last] != 1, strides[0][last] != 0,
      let place = strides[0].lastIndex(of: 1)
    else { return self }
    var result = self
    result.sizes.insert(result.sizes.remove(at: place), at: last - 1)
    for tensor in strides.indices {
      result.strides[tensor].insert(result.strides[tensor].remove(at: place), at: last - 1)
    }
    return result
  }

  /// The same loop with the elements of the last axis as one wider element, in whose number strides are counted, and
  /// their number. It is the loop itself, and 1, unless they are side by side in every tensor and a kernel has loops for
  /// elements as wide.
  ///
  /// - Parameters:
  ///   - element: The bytes of an element.
  ///   - offsets: The numbers of elements before each tensor.
  func widened(element: Int, offsets: [Int] = []) -> (layout: StridedLayout, width: Int) {
    let width = innerCount
    guard rank > 1, [2, 4, 8].contains(width), width * element <= 8, offsets.allSatisfy({ $0 % width == 0 }),
      strides.allSatisfy({ $0.last == 1 && $0.dropLast().allSatisfy { $0 % width == 0 } })
    else { return (self, 1) }
    return (StridedLayout(Array(sizes.dropLast()), strides.map { $0.dropLast().map { $0 / width } }), width)
  }

  var rank: Int { sizes.count }
  /// The product of all sizes but the last.
  var outerCount: Int { sizes.dropLast().reduce(1, *) }
  /// The last size.
  var innerCount: Int { sizes[sizes.count - 1] }
  /// The number of iterations.
  var count: Int { outerCount * innerCount }
}

extension CPUContext {
  /// Returns the loop over the first output and some inputs, which are broadcast to it.
  func broadcasting(_ inputs: ArraySlice<TensorType>) throws(DeviceError) -> StridedLayout {
    let shape = outputs[0].shape
    let layout = StridedLayout(
      shape.dimensions, inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
    guard layout.rank <= ck_max_rank else { throw unsupported("broadcasting over \(layout.rank) axes") }
    return layout
  }
}
