package import KelvinFeatures
package import KelvinHostOperations

extension IndexReader {
  /// Returns the most confident labels of the images with their counts, the most frequent first.
  ///
  /// - Parameter limits: The smallest confidence of a label that counts.
  /// - Throws: `notIndexed` where limits need curves that the model does not have.
  package func categories(_ limits: LabelLimits = LabelLimits()) throws(PhotoIndexError) -> [PhotoCategory] {
    let least = try leastConfidences(limits)
    let rows = try database.prepare(
      """
      SELECT name, count(*), max(confidence), picture FROM observations JOIN labels ON labels.id = label
      WHERE rank = 0 AND label = ? AND confidence >= ?
      """)
    let path = try database.prepare("SELECT path FROM pictures WHERE id = ?")
    var categories: [PhotoCategory] = []
    for (label, threshold) in least {
      try rows.bind([.integer(label), .real(Double(threshold))])
      guard try rows.step(), rows.integer(1) > 0 else { continue }
      let name = try rows.name(0)
      try path.bind([.integer(rows.integer(3))])
      let example = try path.step() ? ImagePath.path(path, 0) ?? "" : ""
      categories.append(
        PhotoCategory(identifier: name, count: Int(rows.integer(1)), example: example))
    }
    return categories.sorted { ($1.count, $0.identifier) < ($0.count, $1.identifier) }
  }

  /// Returns the files that could not be read with the reasons, sorted by path.
  package func unreadable() throws(PhotoIndexError) -> [(path: String, reason: String)] {
    var faults: [(path: String, reason: String)] = []
    let rows = try database.prepare("SELECT path, error FROM pictures WHERE error IS NOT NULL ORDER BY path")
    while try rows.step() {
      if let path = ImagePath.path(rows, 0) { faults.append((path, try rows.name(1))) }
    }
    return faults
  }
}
