import FoundationEssentials
import KelvinBasics

/// Reads and writes versioned JSON documents, and reports every failure as an error with its position.
package enum JSONDocument {
  private struct Header: Decodable {
    var format: String
    var version: Int
  }

  /// A document's header and its value. Both are decoded in one pass, because parsing dominates the time of reading.
  private struct Document<Value: Decodable>: Decodable {
    let header: Header
    let value: Result<Value, any Error>

    init(from decoder: any Decoder) throws {
      header = try Header(from: decoder)
      value = Result { try Value(from: decoder) }
    }
  }

  /// - Parameters:
  ///   - format: the required value of the key `format`.
  ///   - version: the newest supported `version`.
  ///   - limit: the most bytes; a larger document is rejected without parsing.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8], document: String, format: String, version: Int, limit: Int
  ) throws(MeasurementError) -> Value {
    guard bytes.count <= limit else {
      throw .documentTooLarge(document: document, bytes: bytes.count, limit: limit)
    }
    let read = try placing(document) { try JSONText.decode(Document<Value>.self, from: Data(bytes)) }
    let header = read.header
    guard header.format == format else {
      throw .foreignFormat(document: document, expected: format, got: header.format)
    }
    guard (1...version).contains(header.version) else {
      throw .unsupportedVersion(document: document, supported: version, got: header.version)
    }
    return try placing(document) { try read.value.get() }
  }

  /// Returns JSON with sorted keys, so that equal values give equal bytes.
  ///
  /// - Throws: `invalidValue` for a number that JSON cannot represent (infinite, NaN).
  package static func encode(_ value: some Encodable, document: String) throws(MeasurementError) -> [UInt8] {
    do {
      return [UInt8](try JSONText.encode(value))
    } catch let error as EncodingError {
      guard case .invalidValue(let value, let context) = error else {
        throw .malformed(document: document, at: "the top level", reason: "\(error)")
      }
      throw .invalidValue(
        document: document, at: place(context.codingPath), expected: "a finite number", got: "\(value)")
    } catch {
      throw .malformed(document: document, at: "the top level", reason: "\(error)")
    }
  }

  private static func place(_ path: [any CodingKey]) -> String {
    path.isEmpty
      ? "the top level" : path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
  }

  /// - Throws: the error of `read`, with its position in the document.
  private static func placing<Value>(
    _ document: String, _ read: () throws -> Value
  ) throws(MeasurementError) -> Value {
    do {
      return try read()
    } catch let error as DecodingError {
      let (context, detail): (DecodingError.Context, String) =
        switch error {
        case .keyNotFound(let key, let context): (context, "key \"\(key.stringValue)\" is missing")
        case .typeMismatch(let type, let context): (context, "expected \(type)")
        case .valueNotFound(let type, let context): (context, "expected \(type), got null")
        case .dataCorrupted(let context): (context, context.debugDescription)
        @unknown default: (DecodingError.Context(codingPath: [], debugDescription: ""), "\(error)")
        }
      throw .malformed(document: document, at: place(context.codingPath), reason: detail)
    } catch {
      throw .malformed(document: document, at: "the top level", reason: "\(error)")
    }
  }
}
