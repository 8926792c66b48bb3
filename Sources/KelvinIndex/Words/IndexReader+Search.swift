package import KelvinHostOperations

extension IndexReader {
  /// What to look for. Whatever is said is to hold of an image.
  package struct Question: Sendable {
    package var words: LabelQuery?
    package var limits = LabelLimits()
    /// A vector or classes that images are to be like.
    package var similarity: Similarity?
    /// Nanoseconds since 1970 since when the file was written to.
    package var since: Int64?
    /// How many matches at most.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }
  }

  /// What was found.
  package struct Answer: Sendable {
    /// The best first, at most as many as were asked for.
    package var matches: [PhotoMatch]
    /// How many there are.
    package var count: Int
    /// Of how many more all holds that was asked, but they share no label with what they are to be like.
    package var unrelatedCount = 0
  }

  /// The images of which all holds, the best first: the most alike, else the surest, else the newest.
  ///
  /// - Throws: `notIndexed` where limits need curves that the model does not have, or likeness what it does not give.
  package func search(_ question: Question) throws(PhotoIndexError) -> Answer {
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

  /// A label by which an image was found.
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

  /// The images that have some of the labels, by that which is surest.
  private func images(
    with labels: some Sequence<Int64>, _ least: [Int64: Float]
  ) throws(PhotoIndexError) -> [Int64: LabelHit] {
    var found: [Int64: LabelHit] = [:]
    let rows = try database.prepare("SELECT picture, confidence FROM observations WHERE label = ? AND confidence >= ?")
    for label in labels {
      guard let threshold = least[label] else { continue }
      try rows.bind([.integer(label), .real(Double(threshold))])
      while try rows.step() {
        let confidence = Float(rows.real(1))
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

  /// What is shown of images.
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
      try observations.bind([.integer(id)])
      let sought = Set(found[id]?.labels ?? [])
      var (first, others): ([PhotoMatch.Label], [PhotoMatch.Label]) = ([], [])
      while try observations.step() {
        let label = PhotoMatch.Label(
          identifier: observations.text(0), confidence: Float(observations.real(1)))
        if sought.contains(observations.integer(2)) { first.append(label) } else { others.append(label) }
      }
      matches.append(
        PhotoMatch(
          path: path, width: Int(image.integer(1)), height: Int(image.integer(2)),
          modified: Double(image.integer(3)) * 1e-9, score: score, labels: first + others))
    }
    return matches
  }
}

extension [(image: Int64, score: Float)] {
  /// The `count` with the largest scores, the largest first; of equal ones that which came to the index first.
  func best(_ count: Int) -> Self {
    func precedes(_ a: Element, _ b: Element) -> Bool { (b.score, a.image) < (a.score, b.image) }
    // Beyond a few, sorting all costs less than keeping the best in order.
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
