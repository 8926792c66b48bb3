/// A union-find structure.
package struct DisjointSets {
  private var parents: [Int]

  package init(count: Int) { parents = Array(0..<count) }

  package mutating func representative(_ element: Int) -> Int {
    var root = element
    while parents[root] != root {
      parents[root] = parents[parents[root]]
      root = parents[root]
    }
    return root
  }

  package mutating func join(_ a: Int, _ b: Int) {
    let (a, b) = (representative(a), representative(b))
    // The smaller index becomes the root, so that groups do not depend on the order of joining.
    parents[max(a, b)] = min(a, b)
  }
}
