extension IndexReader {
  /// Groups of images whose perceptual hashes differ in few bits, the largest groups first.
  ///
  /// Likeness is handed on: of three images in a group the first and the last may differ in more bits. Images
  /// without any structure, whose hash says nothing, are only grouped where their files are the same.
  ///
  /// - Parameter distance: bits in which hashes may differ, 0…7.
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

/// Hashes sorted so that those near one another are found without comparing all: of hashes that differ in fewer than
/// eight bits, one of eight bytes is the same.
private struct SimilarHashes {
  private let hashes: [UInt64]

  init(_ hashes: [UInt64]) { self.hashes = hashes }

  func forEachPair(within distance: Int, _ body: (UInt64, UInt64) -> Void) {
    // As few parts as leave one untouched: longer ones are shared by fewer hashes.
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

/// Numbers in groups that are joined.
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
    // The earlier one stands for both, so that groups do not depend on the order of joining.
    parents[max(a, b)] = min(a, b)
  }
}
