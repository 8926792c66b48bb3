import KelvinBasics
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
      images.append((path, rows.integer(1), try rows.digest(2), UInt64(bitPattern: rows.integer(3))))
    }
    var groups = DisjointSets(count: images.count)
    var byContent: [[UInt8]: Int] = [:]
    var byHash: [UInt64: Int] = [:]
    var hashes = SimilarHashes(distance: distance)
    for (index, image) in images.enumerated() {
      if let first = byContent[image.content] {
        groups.join(first, index)
      } else {
        byContent[image.content] = index
      }
      guard image.hash != 0, image.hash != .max else { continue }
      if let first = byHash[image.hash] {
        groups.join(first, index)
      } else {
        byHash[image.hash] = index
        hashes.add(image.hash, index)
      }
    }
    guard hashes.join(&groups, isCancelled: { Task.isCancelled || WorkBudget.isSpent }) else { throw database.ending }
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
