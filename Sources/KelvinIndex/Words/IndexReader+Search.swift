package import KelvinFeatures
package import KelvinHostOperations

extension IndexReader {
  /// The criteria of a search. An image must satisfy all of them.
  package struct Question: Sendable {
    package var words: LabelQuery?
    package var limits = LabelLimits()
    /// The vector or classes that images are compared with.
    package var similarity: Similarity?
    /// The earliest modification time of the file, in nanoseconds since 1970.
    package var since: Int64?
    /// The largest number of matches.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }
  }

  /// The result of a search.
  package struct Answer: Sendable {
    /// The best matches, up to the limit.
    package var matches: [PhotoMatch]
    /// The number of all matches.
    package var count: Int
    /// The number of images that satisfy the other criteria but share no label with the given image.
    package var unrelatedCount = 0
  }

  /// Searches for images: the most similar first, else the most confident first, else the newest first.
  ///
  /// - Throws: `notIndexed` where limits need curves, or the comparison needs vectors, that the model does not have.
  package func search(_ question: Question) throws(PhotoIndexError) -> Answer {
    // Labels, similarity and matches read the file about once each, and so does each word.
    database.allow(passes: 4 + (question.words?.wordCount ?? 0))
    let least = try leastConfidences(question.limits)
    var found = try question.words.map { words throws(PhotoIndexError) in try images(words, least) }
    if found == nil, question.limits != LabelLimits() { found = try images(with: least.keys, least) }
    if let since = question.since { found = try recent(since, among: found) }
    var unrelatedCount = 0
    var scores: [(image: Int64, score: Float)]
    if let similarity = question.similarity {
      scores = try self.scores(similarity, among: found)
      if case .labels = similarity {
        let all = if let found { found.count } else { try count() }
        unrelatedCount = max(all - scores.count, 0)
      }
    } else if let found {
      scores = found.map { ($0.key, $0.value.confidence) }
    } else {
      return try newest(question.limit)
    }
    let best = scores.best(question.limit)
    return Answer(
      matches: try matches(best, found: found ?? [:]), count: scores.count, unrelatedCount: unrelatedCount)
  }

  /// The labels by which an image was found.
  struct LabelHit {
    var confidence: Float
    var labels: [Int64]
  }

  private func images(
    _ query: LabelQuery, _ least: [Int64: Float]
  ) throws(PhotoIndexError) -> [Int64: LabelHit] {
    switch query {
    case .words(let words): return try images(showing: words, least)
    case .both(let a, let b):
      let (first, second) = (try images(a, least), try images(b, least))
      var both: [Int64: LabelHit] = [:]
      for (image, one) in first {
        guard let other = second[image] else { continue }
        both[image] = LabelHit(
          confidence: min(one.confidence, other.confidence), labels: one.labels + other.labels)
      }
      return both
    case .either(let a, let b):
      return try images(a, least).merging(try images(b, least)) { one, other in
        LabelHit(confidence: max(one.confidence, other.confidence), labels: one.labels + other.labels)
      }
    case .without(let a, let b):
      let others = try images(b, least)
      return try images(a, least).filter { others[$0.key] == nil }
    }
  }

  private func images(
    showing words: String, _ least: [Int64: Float]
  ) throws(PhotoIndexError) -> [Int64: LabelHit] {
    var labels: [Int64] = []
    let named = try database.prepare("SELECT rowid FROM label_words WHERE label_words MATCH ?")
    try named.bind([.text(words)])
    while try named.step() { labels.append(named.integer(0)) }
    return try images(with: labels, least)
  }

  /// Returns the images that have some of the labels, with the most confident of these labels.
  private func images(
    with labels: some Sequence<Int64>, _ least: [Int64: Float]
  ) throws(PhotoIndexError) -> [Int64: LabelHit] {
    var found: [Int64: LabelHit] = [:]
    let rows = try database.prepare("SELECT picture, confidence FROM observations WHERE label = ? AND confidence >= ?")
    for label in labels {
      guard let threshold = least[label] else { continue }
      try rows.bind([.integer(label), .real(Double(threshold))])
      while try rows.step() {
        let confidence = try rows.score(1)
        if let known = found[rows.integer(0)], known.confidence >= confidence { continue }
        found[rows.integer(0)] = LabelHit(confidence: confidence, labels: [label])
      }
    }
    return found
  }

  private func recent(
    _ since: Int64, among found: [Int64: LabelHit]?
  ) throws(PhotoIndexError) -> [Int64: LabelHit] {
    var recent: [Int64: LabelHit] = [:]
    let rows = try database.prepare("SELECT id FROM pictures WHERE modified >= ? AND error IS NULL")
    try rows.bind([.integer(since)])
    while try rows.step() {
      let id = rows.integer(0)
      if let found { recent[id] = found[id] } else { recent[id] = LabelHit(confidence: 0, labels: []) }
    }
    return recent
  }

  private func newest(_ limit: Int) throws(PhotoIndexError) -> Answer {
    var newest: [(image: Int64, score: Float)] = []
    let rows = try database.prepare("SELECT id FROM pictures WHERE error IS NULL ORDER BY modified DESC, id LIMIT ?")
    try rows.bind([.integer(Int64(limit))])
    while try rows.step() { newest.append((rows.integer(0), 0)) }
    return Answer(matches: try matches(newest, found: [:]), count: try count())
  }

  private static let longestSide: Int64 = 1 << 31

  /// Returns the matches for images.
  private func matches(
    _ chosen: [(image: Int64, score: Float)], found: [Int64: LabelHit]
  ) throws(PhotoIndexError) -> [PhotoMatch] {
    let image = try database.prepare("SELECT path, width, height, modified FROM pictures WHERE id = ?")
    let observations = try database.prepare(
      """
      SELECT name, confidence, label FROM observations JOIN labels ON labels.id = label WHERE picture = ? ORDER BY rank
      """)
    var matches: [PhotoMatch] = []
    for (id, score) in chosen {
      try image.bind([.integer(id)])
      guard try image.step(), let path = ImagePath.path(image, 0) else { continue }
      let (width, height) = (image.integer(1), image.integer(2))
      guard 1...Self.longestSide ~= width, 1...Self.longestSide ~= height else {
        throw database.damaged("an image has the size \(width) × \(height)")
      }
      let modified = Double(image.integer(3)) * 1e-9
      try observations.bind([.integer(id)])
      let sought = Set(found[id]?.labels ?? [])
      var (first, others): ([PhotoMatch.Label], [PhotoMatch.Label]) = ([], [])
      while try observations.step() {
        let label = PhotoMatch.Label(
          identifier: try observations.name(0), confidence: try observations.score(1))
        if sought.contains(observations.integer(2)) { first.append(label) } else { others.append(label) }
      }
      matches.append(
        PhotoMatch(
          path: path, width: Int(width), height: Int(height), modified: modified, score: score, labels: first + others))
    }
    return matches
  }
}

extension [(image: Int64, score: Float)] {
  /// Returns the `count` elements with the largest scores, the largest first. Of equal scores the smaller identifier
  /// comes first.
  func best(_ count: Int) -> Self {
    func precedes(_ a: Element, _ b: Element) -> Bool { (b.score, a.image) < (a.score, b.image) }
    // For a large count, sorting everything is faster than keeping the best elements in order.
    guard count < self.count, count <= 1024 else { return Array(sorted(by: precedes).prefix(count)) }
    var best: Self = []
    for element in self where best.count < count || best.last.map({ precedes(element, $0) }) ?? false {
      let place = best.firstIndex { precedes(element, $0) } ?? best.endIndex
      best.insert(element, at: place)
      if best.count > count { best.removeLast() }
    }
    return best
  }
}
