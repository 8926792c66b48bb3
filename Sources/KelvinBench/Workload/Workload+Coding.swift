package import FoundationEssentials
import KelvinBasics
import KelvinGraph
import KelvinProfiler

extension Workload: Codable {
  /// The largest workload document in bytes.
  static let largestDocument = 1 << 16

  enum CodingKeys: String, CodingKey, CaseIterable {
    case format, version, name, summary, kind, coldStarts, starts, iterations, rounds, warmSeconds, warmUps, fps,
      duration
    case queue, inFlight, prompt, tokens, governor, reserve, coload
  }

  private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
    init(_ text: String) { stringValue = text }
  }

  /// - Throws: `invalidWorkload`. The content of the file is not trusted.
  package init(json: Data, document: String) throws(BenchmarkError) {
    func refuse(_ reason: String) -> BenchmarkError { .invalidWorkload(document: document, reason: reason) }
    guard json.count <= Self.largestDocument else {
      throw refuse("\(json.count) bytes, expected at most \(Self.largestDocument); is this the right file?")
    }
    do {
      self = try JSONText.decode(Workload.self, from: json)
    } catch let error as BenchmarkError {
      if case .invalidWorkload(_, let reason) = error { throw refuse(reason) }
      throw error
    } catch let error as DecodingError {
      throw refuse(Self.describe(error))
    } catch {
      throw refuse("\(error)")
    }
    try validate(document: document)
  }

  package init(from decoder: any Decoder) throws {
    let known = Set(CodingKeys.allCases.map(\.rawValue))
    let keys = try decoder.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
    func refuse(_ reason: String) -> BenchmarkError { .invalidWorkload(document: "file", reason: reason) }
    if let stranger = keys.filter({ !known.contains($0) }).min() {
      throw refuse(
        "the key \"\(stranger)\" is not known; remove it, or use "
          + "\(CodingKeys.allCases.map(\.rawValue).joined(separator: ", "))"
      )
    }
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    let format = try fields.decode(String.self, forKey: .format)
    guard format == Self.format else { throw refuse("expected \"format\": \"\(Self.format)\", got \"\(format)\"") }
    let version = try fields.decode(Int.self, forKey: .version)
    guard version == Self.version else { throw refuse("version \(version), this Kelvin reads version \(Self.version)") }
    let kindName = try fields.decode(String.self, forKey: .kind)
    guard let kind = Kind(rawValue: kindName) else {
      throw refuse("kind: expected \(Kind.allCases.map(\.rawValue).joined(separator: ", ")), got \"\(kindName)\"")
    }
    let standard = workloads.first { $0.kind == kind } ?? Workload(name: "", kind: kind)
    func integer(_ key: CodingKeys, _ fallback: Int) throws -> Int {
      try fields.decodeIfPresent(Int.self, forKey: key) ?? fallback
    }
    func number(_ key: CodingKeys, _ fallback: Double) throws -> Double {
      try fields.decodeIfPresent(Double.self, forKey: key) ?? fallback
    }
    // A key without effect for this kind is rejected as a mistake.
    let foreign: [CodingKeys] =
      switch kind {
      case .oneShot: [.fps, .duration, .queue, .inFlight, .prompt, .tokens, .governor]
      case .stream: [.inFlight, .prompt, .tokens]
      case .throughput: [.fps, .queue, .prompt, .tokens, .governor]
      case .tokens: [.fps, .queue, .inFlight, .governor, .iterations, .rounds, .warmSeconds, .warmUps]
      }
    if let stray = foreign.first(where: { fields.contains($0) }) {
      throw refuse("the key \"\(stray.rawValue)\" does not apply to a \(kind.rawValue) workload; remove it")
    }
    self.init(
      name: try fields.decode(String.self, forKey: .name),
      summary: try fields.decodeIfPresent(String.self, forKey: .summary) ?? "", kind: kind,
      coldStarts: try integer(.coldStarts, standard.coldStarts), starts: try integer(.starts, standard.starts),
      iterations: try integer(.iterations, standard.iterations), rounds: try integer(.rounds, standard.rounds),
      warmSeconds: try number(.warmSeconds, standard.warmSeconds), warmUps: try integer(.warmUps, standard.warmUps),
      framesPerSecond: try number(.fps, standard.framesPerSecond),
      duration: try number(.duration, standard.duration), queue: try integer(.queue, standard.queue),
      inFlight: try integer(.inFlight, standard.inFlight), prompt: try integer(.prompt, standard.prompt),
      tokens: try integer(.tokens, standard.tokens),
      isGoverned: try fields.decodeIfPresent(Bool.self, forKey: .governor) ?? standard.isGoverned,
      reserve: try fields.decodeIfPresent([String: Double].self, forKey: .reserve) ?? [:],
      coload: [:])
    if fields.contains(.coload) {
      let items = try fields.nestedContainer(keyedBy: AnyKey.self, forKey: .coload)
      for key in items.allKeys.sorted(by: { $0.stringValue < $1.stringValue }) {
        let isQuantity = ["memory", "cache"].contains(key.stringValue)
        let text =
          isQuantity ? try items.decode(String.self, forKey: key) : "\(try items.decode(Double.self, forKey: key))"
        if let expected = otherLoad.set(key.stringValue, to: text) {
          throw refuse("coload.\(key.stringValue): expected \(expected), got \"\(text)\"")
        }
      }
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(Self.format, forKey: .format)
    try fields.encode(Self.version, forKey: .version)
    try fields.encode(name, forKey: .name)
    try fields.encode(summary, forKey: .summary)
    try fields.encode(kind, forKey: .kind)
    try fields.encode(coldStarts, forKey: .coldStarts)
    try fields.encode(starts, forKey: .starts)
    if kind == .tokens {
      try fields.encode(prompt, forKey: .prompt)
      try fields.encode(tokens, forKey: .tokens)
    } else {
      try fields.encode(iterations, forKey: .iterations)
      try fields.encode(rounds, forKey: .rounds)
      try fields.encode(warmSeconds, forKey: .warmSeconds)
      try fields.encode(warmUps, forKey: .warmUps)
    }
    if kind == .stream { try fields.encode(framesPerSecond, forKey: .fps) }
    if kind != .oneShot { try fields.encode(duration, forKey: .duration) }
    if kind == .stream {
      try fields.encode(queue, forKey: .queue)
      try fields.encode(isGoverned, forKey: .governor)
    }
    if kind == .throughput { try fields.encode(inFlight, forKey: .inFlight) }
    if !reserve.isEmpty { try fields.encode(reserve, forKey: .reserve) }
    guard !otherLoad.isEmpty || !coload.isEmpty else { return }
    var items = fields.nestedContainer(keyedBy: AnyKey.self, forKey: .coload)
    for (device, share) in coload { try items.encode(share, forKey: AnyKey(device)) }
    if memoryTraffic > 0 { try items.encode(otherLoad.memoryText, forKey: AnyKey("memory")) }
    if cachePressure > 0 { try items.encode(otherLoad.cacheText, forKey: AnyKey("cache")) }
  }

  private static func describe(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context) -> String {
      context.codingPath.isEmpty ? "the top level" : context.codingPath.map(\.stringValue).joined(separator: ".")
    }
    switch error {
    case .keyNotFound(let key, _): return "the key \"\(key.stringValue)\" is missing"
    case .typeMismatch(let type, let context): return "\(place(context)): expected \(type)"
    case .valueNotFound(let type, let context): return "\(place(context)): expected \(type), got null"
    case .dataCorrupted(let context): return "not JSON at \(place(context)): \(context.debugDescription)"
    @unknown default: return "\(error)"
    }
  }
}

extension Workload {
  /// Returns the workload of that name, or reads it from a file if the string contains a slash or ends in `.json`.
  ///
  /// - Throws: `invalidWorkload`.
  package init(named text: String) throws(BenchmarkError) {
    if let known = workloads.first(where: { $0.name == text }) {
      self = known
      return
    }
    guard text.contains("/") || text.hasSuffix(".json") else {
      let names = workloads.map(\.name).joined(separator: ", ")
      throw .invalidWorkload(document: "'\(text)'", reason: "there are \(names); a file's name ends in .json")
    }
    let bytes: Bytes
    do {
      let file = try OpenFile(text)
      guard file.byteCount <= Self.largestDocument else {
        throw BenchmarkError.invalidWorkload(
          document: text,
          reason: "\(file.byteCount) bytes, expected at most \(Self.largestDocument); is this the right file?")
      }
      bytes = try Bytes(reading: file)
    } catch let error as FileError {
      throw .invalidWorkload(document: text, reason: error.description)
    } catch let error as BenchmarkError {
      throw error
    } catch {
      throw .invalidWorkload(document: text, reason: "\(error)")
    }
    try self.init(json: Data(bytes.withUnsafeBytes { Array($0) }), document: text)
  }
}
