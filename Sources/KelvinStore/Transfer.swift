import CKelvinSupport
import CKelvinTransfer
import Glibc
import KelvinBasics
import KelvinFeatures

/// The limits of a download.
package struct TransferLimits: Sendable {
  /// The longest time for a connection, in seconds.
  package var connectSeconds = 30
  /// The longest time without a byte, in seconds.
  package var silentSeconds = 60
  /// The most redirections that are followed.
  package var redirections = 10
  /// The largest download in bytes.
  package var byteCount = 64 << 30
  /// How often a download that broke off is resumed.
  package var resumptions = 3

  package init() {}
}

/// The head of a server's answer.
struct TransferResponse: Sendable {
  /// The status of HTTP; 200 for a local file.
  let status: Int
  private let headers: [(name: String, value: String)]

  fileprivate init(status: Int, lines: [String]) {
    self.status = status
    headers = lines.compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      return (line[..<colon].lowercased(), String(value.prefix { !$0.isNewline }))
    }
  }

  /// The value of the last header of a name in lower case.
  subscript(name: String) -> String? { headers.last { $0.name == name }?.value }
}

/// Takes the body of a successful answer. If a function throws, the transfer ends with its error.
protocol TransferReceiver: AnyObject {
  /// Takes the head, before the body.
  func begin(_ response: TransferResponse) throws(StoreError)
  func receive(_ bytes: UnsafeRawBufferPointer) throws(StoreError)
  /// Is called several times each second. Returns false to cancel the transfer.
  func continues() -> Bool
}

/// A request for a file of a server, or of this machine.
struct Transfer {
  /// The URL to begin with.
  let url: String
  /// The value of the header Authorization, which only the first server gets.
  let authorization: String?
  let limits: TransferLimits

  /// Makes the request and follows redirections.
  ///
  /// - Parameters:
  ///   - headers: Lines such as `Range: bytes=100-`.
  ///   - receiver: Takes the answer if its status is below 300.
  /// - Returns: The last answer, whose status may be 300 or more, but is not a redirection.
  /// - Throws: `network`, `io`, `libraryMissing`, `cancelled`; the errors of the receiver.
  func get(_ headers: [String], _ receiver: any TransferReceiver) throws(StoreError) -> TransferResponse {
    var url = url
    for _ in 0...limits.redirections {
      let own = authorization.flatMap { Self.origin(url) == Self.origin(self.url) ? "Authorization: \($0)" : nil }
      let exchange = Exchange(receiver)
      let result = try perform(url, headers + (own.map { [$0] } ?? []), exchange)
      if let failure = exchange.failure { throw failure }
      guard result.outcome == KELVIN_TRANSFER_DONE || exchange.isRefused else { throw failure(result, url) }
      guard let response = exchange.response(result.response) else {
        throw StoreError(.network, "'\(Self.shown(url))' gave no answer that is HTTP; is the address right?")
      }
      let redirection = withUnsafeBytes(of: result.redirection) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard (300..<400).contains(response.status), response.status != 304, !redirection.isEmpty else {
        try exchange.beginIfNeeded(response)
        return response
      }
      guard Self.mayRedirect(url, to: redirection) else {
        throw StoreError(
          .network,
          "'\(Self.shown(url))' redirects to '\(Self.shown(redirection))'; expected the same or a safer protocol, so it "
            + "is not followed")
      }
      url = redirection
    }
    throw StoreError(
      .network,
      "'\(Self.shown(self.url))' redirects more than \(limits.redirections) times, the last time to "
        + "'\(Self.shown(url))'; is the address right?")
  }

  /// Whether a redirection keeps the safety of the connection. None leads to a local file.
  private static func mayRedirect(_ url: String, to target: String) -> Bool {
    switch scheme(target) {
    case "https": true
    case "http": scheme(url) == "http"
    default: false
    }
  }

  private static func scheme(_ url: String) -> String { url.prefix { $0 != ":" }.lowercased() }

  /// The protocol, the host and the port of a URL, without the user.
  private static func origin(_ url: String) -> String {
    let rest = url.dropFirst(scheme(url).count + 3).prefix { !"/?#".contains($0) }
    return "\(scheme(url))://\(rest.split(separator: "@").last ?? "")".lowercased()
  }

  /// The URL for messages and records: without user, password, query and fragment, which may be secrets.
  static func shown(_ url: String) -> String {
    let scheme = scheme(url)
    let start = url.dropFirst(scheme.count)
    guard start.hasPrefix("://") else { return url }
    let rest = start.dropFirst(3).prefix { !"?#".contains($0) }
    let host = rest.prefix { $0 != "/" }
    let user = host.lastIndex(of: "@").map { host.index(after: $0) } ?? rest.startIndex
    return "\(scheme)://\(rest[user...])"
  }

  private func perform(
    _ url: String, _ headers: [String], _ exchange: Exchange
  ) throws(StoreError) -> kelvin_transfer_result {
    let lines = headers.map { strdup($0) }
    // libcurl leaves the variable to its programs.
    let certificates = getenv("SSL_CERT_FILE").map { strdup($0) }
    defer {
      for line in lines { free(line) }
      if let certificates { free(certificates) }
    }
    var result = kelvin_transfer_result()
    var reason: UnsafePointer<CChar>?
    let isAvailable = withExtendedLifetime(exchange) {
      url.withCString { url in
        "kelvin/\(kelvinVersion)".withCString { agent in
          lines.compactMap { $0.map { UnsafePointer($0) } }.withUnsafeBufferPointer { lines in
            var request = kelvin_transfer_request(
              url: url, agent: agent, headers: lines.baseAddress, header_count: lines.count,
              certificates: certificates.flatMap { UnsafePointer($0) },
              connect_seconds: limits.connectSeconds, silent_seconds: limits.silentSeconds,
              context: Unmanaged.passUnretained(exchange).toOpaque(),
              header: { context, line, count in
                Exchange.of(context)?.take(header: UnsafeRawBufferPointer(start: line, count: count)) ?? false
              },
              body: { context, response, bytes, count in
                Exchange.of(context)?.take(response, UnsafeRawBufferPointer(start: bytes, count: count)) ?? false
              },
              continues: { Exchange.of($0)?.receiver.continues() ?? false })
            return kelvin_transfer(&request, &result, &reason)
          }
        }
      }
    }
    guard isAvailable else {
      let words = reason.map { String(cString: $0) } ?? "no reason given"
      let isAbsent = reason.map { kelvin_library_is_absent($0) } ?? false
      throw StoreError(
        .libraryMissing,
        "models cannot be fetched: \(words)" + (isAbsent ? "; install it: apt install libcurl4" : ""))
    }
    return result
  }

  private func failure(_ result: kelvin_transfer_result, _ url: String) -> StoreError {
    let words = withUnsafeBytes(of: result.message) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    let url = Self.shown(url)
    return switch result.outcome {
    case KELVIN_TRANSFER_ENDED: StoreError(.cancelled, "the download of '\(url)' was cancelled")
    case KELVIN_TRANSFER_UNREACHABLE: StoreError(.network, "cannot reach '\(url)': \(words)")
    case KELVIN_TRANSFER_SILENT:
      StoreError(
        .network, "'\(url)' was silent for \(limits.silentSeconds) s, or did not answer at all (\(words)); try again")
    case KELVIN_TRANSFER_BROKEN:
      StoreError(.network, "'\(url)' broke off: \(words); try again, which resumes it", canBeResumed: true)
    case KELVIN_TRANSFER_UNTRUSTED:
      StoreError(
        .network,
        "no trusted connection to '\(url)': \(words); is the package ca-certificates installed? SSL_CERT_FILE names a "
          + "file of other certificates")
    case KELVIN_TRANSFER_UNREADABLE: StoreError(.io, "cannot read '\(url)': \(words)")
    case KELVIN_TRANSFER_INVALID: StoreError(.request, "'\(url)' is not a URL that can be fetched: \(words)")
    default: StoreError(.network, "cannot fetch '\(url)': \(words)")
    }
  }
}

/// The state of one request, for the callbacks.
private final class Exchange {
  let receiver: any TransferReceiver
  private var lines: [String] = []
  private(set) var failure: StoreError?
  /// Whether the body was not taken, because the status is not that of a success.
  private(set) var isRefused = false
  private var hasBegun = false

  init(_ receiver: any TransferReceiver) { self.receiver = receiver }

  static func of(_ context: UnsafeMutableRawPointer?) -> Exchange? {
    context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
  }

  func take(header: UnsafeRawBufferPointer) -> Bool {
    let line = String(decoding: header.prefix(1 << 14), as: UTF8.self)
    // Each answer begins with its status; an informational one precedes the answer proper.
    if line.hasPrefix("HTTP/") { lines = [] } else { lines.append(line) }
    return lines.count < 1000
  }

  /// Returns the head of the answer; nil if it is not of HTTP.
  func response(_ status: Int) -> TransferResponse? {
    (0..<100).contains(status) && !hasBegun && status != 0
      ? nil : TransferResponse(status: status == 0 ? 200 : status, lines: lines)
  }

  /// Begins an answer without a body.
  func beginIfNeeded(_ response: TransferResponse) throws(StoreError) {
    guard !hasBegun, response.status < 300 else { return }
    hasBegun = true
    try receiver.begin(response)
  }

  func take(_ status: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    guard status < 300 else {
      isRefused = true
      return false
    }
    do throws(StoreError) {
      if !hasBegun, let response = response(status) { try beginIfNeeded(response) }
      try receiver.receive(bytes)
      return true
    } catch {
      failure = error
      return false
    }
  }
}
