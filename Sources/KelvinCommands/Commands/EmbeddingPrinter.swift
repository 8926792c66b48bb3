import ArgumentParser
import KelvinBasics
import KelvinText

/// The output formats of commands on text.
enum TextFormat: String, CaseIterable, ExpressibleByArgument {
  /// A table for people.
  case table
  /// One JSON document per line for each result.
  case jsonl
}

/// A printer for the embeddings of strings.
struct EmbeddingPrinter {
  let texts: [String]
  let vectors: [[Float]]
  /// The vector of the string of `--like`.
  let query: [Float]?
  /// The number of strings that are shown with `--like`.
  let count: Int

  /// The index and similarity of every string, the most similar first; in input order without a query.
  private var ranked: [(place: Int, similarity: Float?)] {
    guard let query else { return texts.indices.map { ($0, nil) } }
    let all = texts.indices.map { ($0, SentenceEncoder.similarity(query, vectors[$0])) }
    return all.sorted { ($1.1, $0.0) < ($0.1, $1.0) }.prefix(count).map { ($0.0, $0.1) }
  }

  var documents: [JSONObject] {
    ranked.map { ["text": texts[$0.place], "embedding": vectors[$0.place], "similarity": $0.similarity] }
  }

  var table: TextTable {
    if query != nil {
      var table = TextTable(.init("SIMILARITY", .right), .init("TEXT", shrinksTo: 20))
      for (place, similarity) in ranked { table.add(Self.text(similarity ?? 0), texts[place]) }
      return table
    }
    return texts.count <= Self.mostColumns ? matrix : neighbours
  }

  /// The largest number of strings whose similarity matrix fits a terminal.
  private static let mostColumns = 8

  private var matrix: TextTable {
    var table = TextTable(
      [.init("", .right), .init("TEXT", shrinksTo: 20)] + texts.indices.map { .init("\($0 + 1)", .right) })
    for (row, text) in texts.enumerated() {
      let likeness = texts.indices.map { Self.text(SentenceEncoder.similarity(vectors[row], vectors[$0])) }
      table.add(["\(row + 1)", text] + likeness)
    }
    return table
  }

  private var neighbours: TextTable {
    var table = TextTable(.init("TEXT", shrinksTo: 20), .init("MOST LIKE", shrinksTo: 20), .init("SIMILARITY", .right))
    for (row, text) in texts.enumerated() {
      let others = texts.indices.filter { $0 != row }.map {
        ($0, SentenceEncoder.similarity(vectors[row], vectors[$0]))
      }
      guard let best = others.max(by: { ($0.1, $1.0) < ($1.1, $0.0) }) else { continue }
      table.add(text, texts[best.0], Self.text(best.1))
    }
    return table
  }

  private static func text(_ similarity: Float) -> String { HumanReadable.fixed(Double(similarity), decimals: 3) }
}
