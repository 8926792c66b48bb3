package import KelvinFeatures

extension IndexReader {
  /// Returns groups of images whose perceptual hashes differ in few bits, the largest groups first.
  ///
  /// Similarity is treated as transitive, so two images of a group may differ in more bits. Images without structure,
  /// whose hash carries no information, are only grouped where their files are identical.
  ///
  /// - Parameter distance: The largest Hamming distance of two hashes, 0…7.
  package func duplicates(within distance: Int) throws(PhotoIndexError) -> [PhotoDuplicates] {
    var images: [(path: String, pixels: Int64, content: [UInt8], hash: UInt64)] = []
    let rows = try database.prepare("SELECT path, width * height, content, hash FROM pictures WHERE error IS NULL")
    while try rows.step() {
      guard let path = ImagePath.path(rows, 0) else { continue }
      images.append((path, rows.integer(1), rows.bytes(2), UInt64(bitPattern: rows.integer(3))))
    }
    var groups = DisjointSets(count: images.count)
    var byContent: [[UInt8]: Int] = [:]
    var byHash: [UInt64: Int] = [:]
    for (index, image) in images.enumerated() {
      if let first = byContent[image.content] {
        groups.join(first, index)
      } else {
        byContent[image.content] = index
      }
      guard image.hash != 0, image.hash != .max else { continue }
      if let first = byHash[image.hash] { groups.join(first, index) } else { byHash[image.hash] = index }
    }
    SimilarHashes(Array(byHash.keys)).forEachPair(within: distance) { a, b in
      if let first = byHash[a], let second = byHash[b] { groups.join(first, second) }
    }
    var members: [Int: [Int]] = [:]
    for index in images.indices { members[groups.representative(index), default: []].append(index) }
    return members.values.filter { $0.count > 1 }.map { group in
      let sorted = group.sorted {
        (images[$1].pixels, images[$0].path) < (images[$0].pixels, images[$1].path)
      }
      return PhotoDuplicates(
        paths: sorted.map { images[$0].path },
        isIdentical: Set(group.map { images[$0].content }).count == 1)
    }.sorted { ($1.paths.count, $0.paths[0]) < ($0.paths.count, $1.paths[0]) }
  }
}

/// An index for finding similar hashes without comparing all pairs. If two hashes differ in fewer bits than there are
/// parts, at least one part is equal.
private struct SimilarHashes {
  private let hashes: [UInt64]

  init(_ hashes: [UInt64]) { self.hashes = hashes }

  func forEachPair(within distance: Int, _ body: (UInt64, UInt64) -> Void) {
    // The number of parts is the smallest that leaves one unchanged, because longer parts have smaller buckets.
    let parts = min(max(distance, 0), 7) + 1
    let bits = 64 / parts
    for part in 0..<parts {
      let shift = UInt64(part * bits)
      let mask: UInt64 = part == parts - 1 ? .max >> shift : (1 << UInt64(bits)) - 1
      var buckets: [UInt64: [UInt64]] = [:]
      for hash in hashes { buckets[hash >> shift & mask, default: []].append(hash) }
      for bucket in buckets.values where bucket.count > 1 {
        for (index, a) in bucket.enumerated() {
          for b in bucket[(index + 1)...] where (a ^ b).nonzeroBitCount <= distance { body(a, b) }
        }
      }
    }
  }
}

/// A union-find structure.
private struct DisjointSets {
  private var parents: [Int]

  init(count: Int) { parents = Array(0..<count) }

  mutating func representative(_ element: Int) -> Int {
    var root = element
    while parents[root] != root {
      parents[root] = parents[parents[root]]
      root = parents[root]
    }
    return root
  }

  mutating func join(_ a: Int, _ b: Int) {
    let (a, b) = (representative(a), representative(b))
    // The smaller index becomes the root, so that groups do not depend on the order of joining.
    parents[max(a, b)] = min(a, b)
  }
}
