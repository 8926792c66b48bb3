import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Operators on strings.
extension ONNXHostMapper {
  static let strings: [ONNXHostMapper] = [
    cast, castLike, equal, murmurHash, regexFullMatch, stringConcat, stringNormalizer, stringSplit, tfIdfVectorizer,
    tokenizer,
  ]

  /// Converts strings to numbers and numbers to strings; a graph casts between numbers.
  private static let cast = ONNXHostMapper("Cast") { (node) throws(FormatError) in
    let target = node.integer("to", default: 0)
    let (input, output) = (try node.input(0), try node.output())
    if target == ONNXSchema.TensorProto.DataType.string {
      let step: any HostOperation =
        node.isHostValue(0)
        ? StringReshape(.kept, input: try node.strings(0), output: output)
        : NumbersToStrings(input: input, output: output)
      return [Output(step: step, isHostValue: true)]
    }
    guard node.isHostValue(0) else { return nil }
    guard let scalar = ScalarType(onnx: target) else {
      throw node.unsupported("it casts strings to the element type \(target)")
    }
    return [Output(step: StringsToNumbers(scalar, input: input, output: output), isHostValue: false)]
  }

  /// Converts if the second input holds strings.
  private static let castLike = ONNXHostMapper("CastLike") { (node) throws(FormatError) in
    let output = try node.output()
    guard node.isHostValue(1) else { return nil }
    let step: any HostOperation =
      node.isHostValue(0)
      ? StringReshape(.kept, input: try node.strings(0), output: output)
      : NumbersToStrings(input: try node.input(0), output: output)
    return [Output(step: step, isHostValue: true)]
  }

  private static let murmurHash = ONNXHostMapper("com.microsoft.MurmurHash3") { (node) throws(FormatError) in
    let isPositive = node.flag("positive", default: true)
    let step = ElementHash(
      seed: UInt32(truncatingIfNeeded: node.integer("seed", default: 0)), isPositive ? .uint32 : .int32,
      input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  private static let stringConcat = ONNXHostMapper("StringConcat") { (node) throws(FormatError) in
    let step = StringConcatenation(try node.stringPair(), output: try node.output())
    return [Output(step: step, isHostValue: true)]
  }

  private static let equal = ONNXHostMapper("Equal") { (node) throws(FormatError) in
    guard node.isHostValue(0), node.isHostValue(1) else { return nil }
    return [Output(step: StringEquality(try node.stringPair(), output: try node.output()), isHostValue: false)]
  }

  private static let stringSplit = ONNXHostMapper("StringSplit") { (node) throws(FormatError) in
    let splits = node.node.attributes["maxsplit"]?.integer
    let delimiter = node.text("delimiter", default: "")
    let parts = try node.output()
    let step = StringSplit(
      at: delimiter.isEmpty ? nil : delimiter, atMost: splits.flatMap { $0 < 0 ? nil : $0 }, input: try node.input(0),
      parts: parts, counts: node.node.outputs.count > 1 ? node.node.outputs[1] : "\(parts)\(node.mark)counts")
    return [Output(step: step, hostValues: [parts])]
  }

  private static let stringNormalizer = ONNXHostMapper("StringNormalizer") { (node) throws(FormatError) in
    let letters: StringNormalizer.Case
    switch node.text("case_change_action", default: "NONE") {
    case "NONE": letters = .kept
    case "LOWER": letters = .lower
    case "UPPER": letters = .upper
    case let action: throw node.malformed("its case_change_action is '\(action)', expected NONE, LOWER or UPPER")
    }
    let step = StringNormalizer(
      without: node.strings("stopwords"),
      distinguishesCase: node.flag("is_case_sensitive"),
      letters: letters, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: true)]
  }

  private static let regexFullMatch = ONNXHostMapper("RegexFullMatch") { (node) throws(FormatError) in
    guard let pattern = node.node.attributes["pattern"]?.text else { throw node.malformed("it has no pattern") }
    let step = StringMatch(try node.expression(pattern), input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }

  private static let tokenizer = ONNXHostMapper("com.microsoft.Tokenizer") { (node) throws(FormatError) in
    let least = node.integer("mincharnum", default: 1)
    let separators = node.strings("separators")
    let rule: StringTokens.Rule
    if let expression = node.node.attributes["tokenexp"]?.text, !expression.isEmpty {
      guard separators.isEmpty else {
        throw node.malformed("it has both tokenexp and separators, expected one of them")
      }
      rule = .matches(try node.expression(expression))
    } else {
      guard !separators.isEmpty else { throw node.malformed("it has neither tokenexp nor separators") }
      var expressions: [RegularExpression] = []
      for separator in separators { expressions.append(try node.expression(separator)) }
      rule = separators == [""] ? .characters : .between(expressions)
    }
    let step = StringTokens(
      rule, atLeast: least, isMarked: node.flag("mark"),
      padding: node.text("pad_value", default: ""), input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: true)]
  }

  private static let tfIdfVectorizer = ONNXHostMapper("TfIdfVectorizer") { (node) throws(FormatError) in
    let attributes = node.node.attributes
    guard let pool = node.labels(strings: "pool_strings", integers: "pool_int64s")?.column else {
      throw node.malformed("it has no pool")
    }
    guard let least = attributes["min_gram_length"]?.integer, let most = attributes["max_gram_length"]?.integer,
      let skips = attributes["max_skip_count"]?.integer, (1...1 << 16).contains(least),
      (least...1 << 16).contains(most),
      (0...1 << 20).contains(skips)
    else {
      throw node.malformed("expected 1 ≤ min_gram_length ≤ max_gram_length ≤ 65536 and max_skip_count from 0 to 2^20")
    }
    let measure: TermCounts.Measure
    switch attributes["mode"]?.text {
    case "TF": measure = .count
    case "IDF": measure = .weight
    case "TFIDF": measure = .product
    case let mode: throw node.malformed("its mode is '\(mode ?? "")', expected TF, IDF or TFIDF")
    }
    let columns = attributes["ngram_indexes"]?.integers ?? []
    guard columns.allSatisfy({ (0..<1 << 24).contains($0) }) else {
      throw node.malformed("its ngram_indexes are not from 0 to 2^24")
    }
    let width = (columns.max() ?? -1) + 1
    let weights = attributes["weights"]?.floats ?? []
    guard weights.isEmpty || weights.count == columns.count else {
      throw node.malformed("expected \(columns.count) weights, got \(weights.count)")
    }
    let step = TermCounts(
      try node.terms(pool.count, columns, weights), of: pool, lengths: least...most, skips: skips, measure: measure,
      columns: width, input: try node.input(0), output: try node.output())
    return [Output(step: step, isHostValue: false)]
  }
}

extension ONNXHostNode {
  fileprivate func stringPair() throws(FormatError) -> StringPair {
    StringPair(try strings(0), try strings(1))
  }

  fileprivate func expression(_ pattern: String) throws(FormatError) -> RegularExpression {
    do throws(RegularExpression.SyntaxError) { return try RegularExpression(pattern) } catch {
      throw unsupported("its pattern '\(pattern.prefix(64))' cannot be read: \(error.reason)")
    }
  }

  /// Returns the n-grams of a pool: single words, then pairs and so on. `ngram_counts` holds the offset of each length.
  fileprivate func terms(_ count: Int, _ columns: [Int], _ weights: [Float]) throws(FormatError) -> [TermCounts.Term] {
    let starts = node.attributes["ngram_counts"]?.integers ?? []
    guard starts.first == 0, zip(starts, starts.dropFirst()).allSatisfy({ $0 <= $1 }), starts.last ?? 0 <= count else {
      throw malformed("its ngram_counts are not ascending offsets into its pool")
    }
    var terms: [TermCounts.Term] = []
    for (length, (start, end)) in zip(1..., zip(starts, starts.dropFirst() + [count])) {
      guard (end - start) % length == 0 else {
        throw malformed("its pool has \(end - start) words for n-grams of \(length)")
      }
      for place in stride(from: start, to: end, by: length) {
        guard terms.count < columns.count else { break }
        let index = terms.count
        let weight = weights.isEmpty ? 1 : weights[index]
        terms.append(TermCounts.Term(words: Array(place..<place + length), column: columns[index], weight: weight))
      }
    }
    guard terms.count == columns.count, terms.reduce(0, { $0 + $1.words.count }) == count else {
      throw malformed("its pool and its \(columns.count) ngram_indexes do not match")
    }
    return terms
  }
}
