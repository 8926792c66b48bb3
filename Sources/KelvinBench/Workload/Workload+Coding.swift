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
    let keys = try decoder.container(keyedBy: JSONKey.self).allKeys.map(\.stringValue)
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
      summary: try fields.decode(.summary, or: ""), kind: kind,
      coldStarts: try fields.decode(.coldStarts, or: standard.coldStarts),
      starts: try fields.decode(.starts, or: standard.starts),
      iterations: try fields.decode(.iterations, or: standard.iterations),
      rounds: try fields.decode(.rounds, or: standard.rounds),
      warmSeconds: try fields.decode(.warmSeconds, or: standard.warmSeconds),
      warmUps: try fields.decode(.warmUps, or: standard.warmUps),
      framesPerSecond: try fields.decode(.fps, or: standard.framesPerSecond),
      duration: try fields.decode(.duration, or: standard.duration),
      queue: try fields.decode(.queue, or: standard.queue),
      inFlight: try fields.decode(.inFlight, or: standard.inFlight),
      prompt: try fields.decode(.prompt, or: standard.prompt),
      tokens: try fields.decode(.tokens, or: standard.tokens),
      isGoverned: try fields.decode(.governor, or: standard.isGoverned),
      reserve: try fields.decode(.reserve, or: [:]),
      coload: [:])
    if fields.contains(.coload) {
      let items = try fields.nestedContainer(keyedBy: JSONKey.self, forKey: .coload)
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

  /// Writes the keys that have an effect for the workload's kind.
  package func encode(to encoder: any Encoder) throws {
    let (isTokens, isStream) = (kind == .tokens, kind == .stream)
    let otherAmounts: JSONObject = [
      "memory": memoryTraffic > 0 ? otherLoad.memoryText : nil,
      "cache": cachePressure > 0 ? otherLoad.cacheText : nil,
    ]
    let document: JSONObject = [
      "format": Self.format, "version": Self.version, "name": name, "summary": summary, "kind": kind,
      "coldStarts": coldStarts, "starts": starts,
      "prompt": isTokens ? prompt : nil, "tokens": isTokens ? tokens : nil,
      "iterations": isTokens ? nil : iterations, "rounds": isTokens ? nil : rounds,
      "warmSeconds": isTokens ? nil : warmSeconds, "warmUps": isTokens ? nil : warmUps,
      "fps": isStream ? framesPerSecond : nil, "duration": kind == .oneShot ? nil : duration,
      "queue": isStream ? queue : nil, "governor": isStream ? isGoverned : nil,
      "inFlight": kind == .throughput ? inFlight : nil, "reserve": reserve.nonEmpty,
      "coload": otherLoad.isEmpty && coload.isEmpty ? nil : otherAmounts.extending(coload),
    ]
    try document.encode(to: encoder)
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
