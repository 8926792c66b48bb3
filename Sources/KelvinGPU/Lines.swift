package import KelvinGraph

/// The lines of a dense tensor along one axis: the middle one of `[outer, length, inner]`.
package struct Lines: Hashable, Sendable {
  package let outer: Int
  package let length: Int
  package let inner: Int

  package init(_ shape: Shape, axis: Int) {
    outer = shape.dimensions[..<axis].reduce(1, *)
    length = shape[axis]
    inner = shape.dimensions[(axis + 1)...].reduce(1, *)
  }

  package init(outer: Int, length: Int, inner: Int) { (self.outer, self.length, self.inner) = (outer, length, inner) }

  package var count: Int { outer * inner }
}
