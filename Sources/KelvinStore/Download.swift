import CKelvinSupport
import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinDevices

/// The marks by which a server recognizes the version of a file.
struct Validators: Codable, Hashable, Sendable {
  var etag: String?
  var modified: String?

  init(etag: String? = nil, modified: String? = nil) { (self.etag, self.modified) = (etag, modified) }

  init(_ response: TransferResponse) {
    self.init(etag: response["etag"], modified: response["last-modified"])
  }

  /// The mark that guarantees equal bytes; nil if there is none.
  var strong: String? { etag.map { $0.hasPrefix("W/") ? nil : $0 } ?? modified }

  /// The header lines that ask for the file only if it has changed.
  var conditions: [String] {
    if let etag { return ["If-None-Match: \(etag)"] }
    return modified.map { ["If-Modified-Since: \($0)"] } ?? []
  }
}

/// The download of one file into a partial file of the store, which a later download resumes. The caller holds the lock
/// of the download.
///
/// The hash is computed while bytes arrive. A resumed download hashes the bytes that are already there first.
final class Download: TransferReceiver {
  /// A complete download.
  struct Outcome {
    let sha256: String
    let byteCount: Int
    let validators: Validators
  }

  private struct Notes: Codable {
    var address: String
    var validators: Validators
  }

  private let address: ModelAddress
  private let limits: TransferLimits
  private let expected: (sha256: String?, byteCount: Int?)
  private let path: String
  private let meter: FetchMeter
  private var file: Int32 = -1
  private var state = kelvin_sha256()
  private var received = 0
  private var total: Int?
  private var validators: Validators?
  /// The offset that was asked for; 0 for the whole file.
  private var offset = 0
  private var isChecked = false

  /// - Parameters:
  ///   - path: The partial file. Its notes are beside it.
  ///   - expected: The hash and the size that the download must have.
  init(
    _ address: ModelAddress, _ limits: TransferLimits, sha256: String?, byteCount: Int?, at path: String,
    _ meter: FetchMeter
  ) {
    (self.address, self.limits, self.path, self.meter) = (address, limits, path, meter)
    expected = (sha256, byteCount)
  }

  deinit { if file >= 0 { close(file) } }

  private var notesPath: String { "\(path).json" }

  /// Removes the partial file.
  func discard() {
    if file >= 0 { close(file) }
    file = -1
    unlink(path.pathBytes)
    unlink(notesPath.pathBytes)
  }

  /// Downloads the file.
  ///
  /// - Parameter known: The marks of the version that the store has. If the server still has it, nothing is downloaded.
  /// - Returns: Nil if the server still has the known version.
  /// - Throws: `network`, `integrity`, `invalid`, `quota`, `io`, `noSpace`, `libraryMissing`, `cancelled`. A partial
  ///   file stays, unless it cannot be the beginning of the expected one.
  func run(unless known: Validators?) throws(StoreError) -> Outcome? {
    var (breaks, isFresh) = (0, false)
    while true {
      let before = partialByteCount
      do throws(StoreError) {
        guard try attempt(isFresh: isFresh, unless: known) else { return nil }
        let outcome = try finish()
        guard let sha256 = expected.sha256, sha256 != outcome.sha256 else { return outcome }
        discard()
        // The beginning may be that of another version.
        if offset > 0, !isFresh {
          isFresh = true
          continue
        }
        throw StoreError(
          .integrity,
          "'\(address.source)' has the SHA-256 \(outcome.sha256), expected \(sha256); it was changed or damaged, and "
            + "is not used")
      } catch {
        if partialByteCount == 0 { discard() }
        breaks = partialByteCount > before ? 0 : breaks + 1
        guard error.canBeResumed, breaks < limits.resumptions, canResume else { throw error }
      }
    }
  }

  /// Whether a part of the file is there, and the server may send the rest.
  private var canResume: Bool { partialByteCount > 0 && validators?.strong != nil }

  private var partialByteCount: Int {
    var status = stat()
    return stat(path.pathBytes, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Makes one request.
  ///
  /// - Returns: False if the server still has the known version.
  private func attempt(isFresh: Bool, unless known: Validators?) throws(StoreError) -> Bool {
    try openFile(isFresh: isFresh)
    var headers: [String] = []
    if offset > 0, let mark = validators?.strong {
      headers = ["Range: bytes=\(offset)-", "If-Range: \(mark)"]
    } else if let known {
      headers = known.conditions
    }
    isChecked = false
    let response = try Transfer(url: address.url, authorization: address.authorization, limits: limits)
      .get(headers, self)
    switch response.status {
    case 200..<300: return true
    case 304 where known != nil: return false
    case 416 where offset > 0:
      // The partial file has as many bytes as the server's, or more.
      return try attempt(isFresh: true, unless: known)
    default:
      throw StoreError(
        .network,
        "'\(address.source)' was answered with the status \(response.status)"
          + (Self.meanings[response.status] ?? ""))
    }
  }

  private static let meanings = [
    401: " (unauthorized); it needs a login, for hf: HF_TOKEN",
    403: " (forbidden); it needs a login, for hf: HF_TOKEN", 404: " (not found); is the address right?",
    410: " (gone); is the address right?", 429: " (too many requests); try again later",
    500: " (error of the server); try again later", 502: " (bad gateway); try again later",
    503: " (not available); try again later", 504: " (timeout of a gateway); try again later",
  ]

  /// Opens the partial file, and hashes its bytes if they can be resumed.
  private func openFile(isFresh: Bool) throws(StoreError) {
    if file < 0 {
      // A process that ended in the middle may have left incomplete notes.
      let folder = path.parentPath
      for name in StoreFolder.entries(folder) where name.hasPrefix("\(notesPath.lastPathPart).") {
        unlink("\(folder)/\(name)".pathBytes)
      }
      file = open(path.pathBytes, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
      guard file >= 0 else { throw failure("open") }
    }
    let notes = (try? LocalFile.read(notesPath)).flatMap { try? JSONText.decode(Notes.self, from: $0) }
    validators = notes?.address == address.identity ? notes?.validators : nil
    let isResumable = !isFresh && validators?.strong != nil && !address.url.hasPrefix("file:")
    if !isResumable { try restart() } else { try rehash() }
    offset = received
  }

  private func restart() throws(StoreError) {
    guard ftruncate(file, 0) == 0, lseek(file, 0, SEEK_SET) == 0 else { throw failure("write") }
    kelvin_sha256_begin(&state)
    received = 0
  }

  private func rehash() throws(StoreError) {
    kelvin_sha256_begin(&state)
    received = 0
    guard lseek(file, 0, SEEK_SET) == 0 else { throw failure("read") }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(file, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("read") }
      guard count > 0 else { return }
      kelvin_sha256_add(&state, piece, count)
      received += count
      guard meter.continues() else { throw StoreError(.cancelled, "the download was cancelled") }
    }
  }

  // MARK: TransferReceiver

  func begin(_ response: TransferResponse) throws(StoreError) {
    let length = response["content-length"].flatMap { Int($0) }
    if response.status == 206 {
      let range = response["content-range"] ?? ""
      guard range.hasPrefix("bytes \(offset)-"), offset > 0 else {
        throw StoreError(
          .network, "'\(address.source)' sent the range '\(range)', expected bytes from \(offset) on")
      }
      total = range.split(separator: "/").last.flatMap { Int($0) } ?? length.map { $0 + offset }
    } else {
      try restart()
      offset = 0
      total = length
      let validators = Validators(response)
      self.validators = validators
      try save(Notes(address: address.identity, validators: validators))
    }
    if response["content-type"]?.lowercased().hasPrefix("text/html") == true { throw webPage }
    if let total {
      try check(total)
      try checkSpace(total - received)
    }
    meter.begin(received: received, total: total ?? expected.byteCount)
  }

  func receive(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    if !isChecked, received == 0 {
      isChecked = true
      let start = String(decoding: bytes.drop { $0 <= 0x20 }.prefix(14), as: UTF8.self).lowercased()
      if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") { throw webPage }
    }
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = write(file, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if count == 0 { errno = ENOSPC }
        throw failure("write")
      }
      kelvin_sha256_add(&state, UnsafeRawBufferPointer(rebasing: rest).baseAddress, count)
      received += count
      rest = rest.dropFirst(count)
    }
    if received > expected.byteCount ?? limits.byteCount { try check(received) }
    meter.update(received)
  }

  func continues() -> Bool { meter.continues() }

  private var webPage: StoreError {
    StoreError(
      .invalid,
      "'\(address.source)' was answered with a web page (HTML), expected a model; is the address right, and does it need "
        + "a login?")
  }

  /// Checks the number of bytes that the server announces or has sent.
  private func check(_ count: Int) throws(StoreError) {
    if let byteCount = expected.byteCount, count != byteCount {
      throw StoreError(
        .integrity, "'\(address.source)' has \(count) bytes, expected \(byteCount); it was changed, and is not used")
    }
    guard count <= limits.byteCount else {
      throw StoreError(
        .quota,
        "'\(address.source)' has \(HumanReadable.bytes(count)), expected at most \(HumanReadable.bytes(limits.byteCount))"
      )
    }
  }

  /// Checks that the disk has space for a number of bytes.
  private func checkSpace(_ count: Int) throws(StoreError) {
    var status = statvfs()
    guard fstatvfs(file, &status) == 0 else { return }
    let (free, isOver) = Int(clamping: status.f_bavail).multipliedReportingOverflow(by: Int(clamping: status.f_frsize))
    guard !isOver, free < count else { return }
    throw StoreError(
      .noSpace,
      "'\(address.source)' needs \(HumanReadable.bytes(count)), and the disk of '\(path.parentPath)' has "
        + "\(HumanReadable.bytes(free)) left")
  }

  /// Checks and syncs a file that has arrived.
  private func finish() throws(StoreError) -> Outcome {
    if let total, received != total {
      throw StoreError(
        .network, "'\(address.source)' broke off after \(received) of \(total) bytes; try again, which resumes it",
        canBeResumed: true)
    }
    try check(received)
    guard received > 0 else { throw StoreError(.invalid, "'\(address.source)' is empty, expected a model") }
    guard fsync(file) == 0 || errno == EINVAL else { throw failure("write") }
    var digest = [UInt8](repeating: 0, count: Digest.byteCount)
    kelvin_sha256_end(&state, &digest)
    return Outcome(
      sha256: Digest.text(of: digest), byteCount: received,
      validators: validators ?? Validators())
  }

  private func save(_ notes: Notes) throws(StoreError) {
    try StoreDocument.write(notes, to: notesPath)
  }

  private func failure(_ action: String) -> StoreError {
    StoreError(FileError(path: path, action: action, code: errno))
  }
}

/// Takes a small file in memory, such as a manifest.
final class SmallDownload: TransferReceiver {
  private(set) var bytes: [UInt8] = []
  private let limit: Int
  private let source: String
  private let isCancelled: () -> Bool

  private init(_ source: String, limit: Int, _ isCancelled: @escaping () -> Bool) {
    (self.source, self.limit, self.isCancelled) = (source, limit, isCancelled)
  }

  /// Downloads a file.
  ///
  /// - Throws: `network`, also for a status that is not a success; `invalid` for more bytes than the limit.
  static func bytes(
    _ address: ModelAddress, _ limits: TransferLimits, limit: Int, _ isCancelled: @escaping () -> Bool
  ) throws(StoreError) -> [UInt8] {
    let download = SmallDownload(address.source, limit: limit, isCancelled)
    let response = try Transfer(url: address.url, authorization: address.authorization, limits: limits)
      .get([], download)
    guard response.status < 300 else {
      throw StoreError(.network, "'\(address.source)' was answered with the status \(response.status)")
    }
    return download.bytes
  }

  func begin(_ response: TransferResponse) {}

  func receive(_ piece: UnsafeRawBufferPointer) throws(StoreError) {
    guard bytes.count + piece.count <= limit else {
      throw StoreError(.invalid, "'\(source)' has more than \(limit) bytes; is the address right?")
    }
    bytes += piece
  }

  func continues() -> Bool { !isCancelled() }
}
