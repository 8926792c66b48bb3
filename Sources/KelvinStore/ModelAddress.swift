import FoundationEssentials
import Glibc
import KelvinBasics
import KelvinDevices

/// The address of a file to fetch.
struct ModelAddress: Sendable {
  /// The URL for the request.
  let url: String
  /// The URL for records and messages, without secrets.
  let source: String
  /// The SHA-256 of the URL, which tells apart URLs with different queries without revealing them.
  var identity: String { Digest(url).description }
  /// The SHA-256 that the address demands, as 64 hexadecimal digits in lower case.
  let sha256: String?
  /// The name of the file.
  let fileName: String
  /// The name of the model in the store, unless another is given.
  let modelName: String
  /// The value of the header Authorization.
  private(set) var authorization: String?

  /// Reads a URL with the protocol https, http, file or hf, or the path of a file of this machine.
  ///
  /// - Parameter environment: The environment variables HF_ENDPOINT and HF_TOKEN, for hf.
  /// - Throws: `request` for another URL, or a fragment that is not `sha256=` and 64 hexadecimal digits.
  init(_ text: String, environment: [String: String] = [:]) throws(StoreError) {
    let isPath = !text.contains("://") && access(text.pathBytes, F_OK) == 0
    let text = isPath ? URL(filePath: text).absoluteString : text
    let parts = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    sha256 = parts.count > 1 ? try Self.digest(fragment: parts[1], of: text) : nil
    if parts[0].hasPrefix("hf://") {
      let place = try Self.hub(parts[0], environment)
      (url, modelName) = (place.url, ModelName.made(from: place.repository))
      authorization = environment["HF_TOKEN"].flatMap { $0.isEmpty ? nil : "Bearer \($0)" }
    } else {
      let schemes = ["https://", "http://", "file://"]
      guard let scheme = schemes.first(where: { parts[0].lowercased().hasPrefix($0) }),
        URL(string: parts[0]).map({ scheme == "file://" || $0.host?.isEmpty == false }) == true
      else {
        throw StoreError(
          .request,
          "'\(Transfer.shown(text))' is not a URL; use https://…, http://…, file:///… or hf://OWNER/NAME/FILE")
      }
      url = parts[0]
      authorization = nil
      let name = Self.fileName(parts[0])
      let stem = Self.archiveEndings.first(where: name.lowercased().hasSuffix).map { String(name.dropLast($0.count)) }
      modelName = ModelName.made(from: (stem ?? name).pathStem)
    }
    // A URL is one line of a request.
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw StoreError(
        .request, "'\(Transfer.shown(text))' is not a URL: spaces and control characters must be encoded")
    }
    source = Transfer.shown(url)
    fileName = ModelName.made(from: Self.fileName(url))
  }

  private static let archiveEndings = [".zip", ".tar.gz", ".tgz", ".tar.zst", ".tar"]

  /// The last component of a URL's path.
  private static func fileName(_ url: String) -> String {
    let name = URL(string: Transfer.shown(url))?.lastPathComponent ?? ""
    return name.isEmpty || name == "/" ? "model" : name
  }

  /// Returns the address of a file named relative to this one, such as a model of a manifest.
  ///
  /// - Throws: `invalid` if the file is not below the folder of this one.
  func sibling(_ file: String) throws(StoreError) -> ModelAddress {
    guard file.staysInside, !file.contains(where: { "?#%\\:".contains($0) }) else {
      throw StoreError(.invalid, "'\(source)' names the file '\(file)', expected a path below its own folder")
    }
    let query = url.firstIndex(of: "?") ?? url.endIndex
    guard let slash = url[..<query].lastIndex(of: "/") else { throw StoreError(.request, "'\(source)' is not a URL") }
    let path = file.utf8.map { byte in
      byte > 0x20 && byte < 0x7F ? String(UnicodeScalar(byte)) : "%" + Self.hexadecimal(byte)
    }
    return try with(url: String(url[...slash]) + path.joined())
  }

  /// Returns the address of the file whose path has an ending more.
  func appending(_ ending: String) throws(StoreError) -> ModelAddress {
    let query = url.firstIndex(of: "?") ?? url.endIndex
    return try with(url: url[..<query] + ending + url[query...])
  }

  /// Returns another address of the same server.
  private func with(url: String) throws(StoreError) -> ModelAddress {
    var address = try ModelAddress(url)
    address.authorization = authorization
    return address
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  private static func digest(fragment: String, of text: String) throws(StoreError) -> String {
    let value = fragment.hasPrefix("sha256=") ? fragment.dropFirst(7).lowercased() : ""
    guard isDigest(value) else {
      throw StoreError(
        .request,
        "'\(Transfer.shown(text))' ends in '#\(fragment)', expected #sha256= and 64 hexadecimal digits")
    }
    return value
  }

  /// Whether a string is a SHA-256 as 64 hexadecimal digits in lower case.
  static func isDigest(_ text: String) -> Bool {
    text.utf8.count == 64 && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns the web address of a file of the Hugging Face hub: `hf://owner/name/file@revision`.
  private static func hub(
    _ text: String, _ environment: [String: String]
  ) throws(StoreError) -> (url: String, repository: String) {
    let rest = text.dropFirst("hf://".count)
    let at = rest.lastIndex(of: "@")
    let revision = at.map { String(rest[rest.index(after: $0)...]) } ?? "main"
    let parts = String(rest[..<(at ?? rest.endIndex)]).pathParts
    guard parts.count >= 3, !revision.isEmpty, !parts.contains(".."), !parts.contains(".") else {
      throw StoreError(.request, "'\(text)' is not a file of the hub; use hf://OWNER/NAME/FILE@REVISION")
    }
    var endpoint = environment["HF_ENDPOINT"].flatMap { $0.isEmpty ? nil : $0 } ?? "https://huggingface.co"
    while endpoint.hasSuffix("/") { endpoint.removeLast() }
    guard endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://") else {
      throw StoreError(.request, "HF_ENDPOINT is '\(endpoint)', expected a URL such as https://huggingface.co")
    }
    func encoded(_ text: String, keepsSlashes: Bool) -> String {
      text.utf8.map { byte in
        let isKept =
          (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || "-._~".utf8.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/")
        return isKept ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte)
      }.joined()
    }
    let repository = encoded(parts[..<2].joined(separator: "/"), keepsSlashes: true)
    let file = encoded(parts[2...].joined(separator: "/"), keepsSlashes: true)
    return ("\(endpoint)/\(repository)/resolve/\(encoded(revision, keepsSlashes: false))/\(file)", parts[1])
  }
}
