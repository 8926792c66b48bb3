import KelvinGraph

/// A strided view of a tensor's elements.
struct OperandView {
  private(set) var offset = 0
  private(set) var sizes: [Int]
  private(set) var strides: [Int]

  /// Creates the view of a whole tensor in its own order.
  init(_ shape: Shape) {
    sizes = shape.dimensions
    strides = shape.strides
  }

  mutating func transpose(_ permutation: [Int]) {
    sizes = permutation.map { sizes[$0] }
    strides = permutation.map { strides[$0] }
  }

  mutating func slice(_ slice: Slice) {
    for axis in sizes.indices {
      offset += slice.starts[axis] * strides[axis]
      strides[axis] *= slice.steps[axis]
      sizes[axis] = slice.counts[axis]
    }
  }

  /// Returns other axes over the same elements in the same order; nil if an axis would not have a constant stride, or
  /// if there are no elements.
  func reshaped(to shape: Shape) -> OperandView? {
    guard shape.count > 0 else { return nil }
    var view = self
    view.sizes = shape.dimensions
    view.strides = []
    // Groups of old axes that are contiguous in memory, from the first.
    let old = zip(sizes, strides).filter { $0.0 != 1 }
    var (place, rest, step) = (0, 1, 0)
    for size in shape.dimensions {
      if size == 1 {
        view.strides.append(0)
        continue
      }
      if rest == 1 {
        guard place < old.count else { return nil }
        (rest, step) = (old[place].0, old[place].0 * old[place].1)
        place += 1
        while rest % size != 0 {
          guard place < old.count, old[place - 1].1 == old[place].0 * old[place].1 else { return nil }
          rest *= old[place].0
          place += 1
        }
        step = old[place - 1].1 * rest
      }
      guard rest % size == 0 else { return nil }
      rest /= size
      step /= size
      view.strides.append(step)
    }
    return view
  }

  /// Returns the view after an operator that moves elements; nil for other operators, and if the result is not a view.
  func moved(by op: any Operator) -> OperandView? {
    var view = self
    switch op {
    case let transpose as Transpose: view.transpose(transpose.permutation)
    case let slice as Slice where slice.steps.allSatisfy { $0 > 0 }: view.slice(slice)
    case let reshape as Reshape: return reshaped(to: reshape.shape)
    default: return nil
    }
    return view
  }
}
