public import FoundationEssentials
import Glibc
import Kelvin
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinPackaging
import KelvinRuntime

/// The result of fetching a model.
public struct FetchedModel: Hashable, Sendable {
  /// The version in the store.
  public let model: StoredModel
  /// Whether the version arrived now. Otherwise the store had it.
  public let isNew: Bool
  /// Messages for the user: an answer without the server, versions that were removed for the quota.
  public let remarks: [String]

  package init(model: StoredModel, isNew: Bool, remarks: [String]) {
    (self.model, self.isNew, self.remarks) = (model, isNew, remarks)
  }
}

/// A file to fetch, and the facts that it must match.
private struct FetchRequest {
  let address: ModelAddress
  let name: String
  let version: String?
  let sha256: String?
  var byteCount: Int?
  var tags: [String] = []
  var signer: String?
}

extension ModelStore {
  /// Fetches a model from a URL, unless the store has it.
  ///
  /// A URL that ends in `#sha256=` and 64 hexadecimal digits demands these contents, and is answered from the store
  /// without the server if they are there. For another URL the server is asked whether the file has changed; without
  /// the server, the version in the store is the answer. Several processes share one download. A download that broke
  /// off is resumed.
  ///
  /// - Parameters:
  ///   - address: A URL with the protocol https, http, file, or hf: `hf://owner/name/file@revision` is a file of the
  ///     Hugging Face hub.
  ///   - name: `NAME` or `NAME@VERSION` in the store. Nil names the model after the file, or after the repository of the
  ///     hub. The version is the beginning of the SHA-256 unless it is given.
  ///   - lock: A file that keeps the SHA-256 of each URL: the first fetch adds it, later ones demand it.
  ///   - progress: Called on another thread.
  /// - Throws: `StoreError`.
  public func fetch(
    _ address: String, name: String? = nil, lock: URL? = nil,
    progress: @escaping @Sendable (FetchProgress) -> Void = { _ in }
  ) async throws(StoreError) -> FetchedModel {
    try await Self.blocking { (isCancelled) throws(StoreError) in
      let file = try ModelAddress(address, environment: self.environment)
      let asked = try name.map { (name) throws(StoreError) in try ModelName(checking: name) }
      let hashes = try lock.map { (url) throws(StoreError) in try HashLock(at: url.relativePath) }
      let kept = hashes?.sha256(of: file)
      if let own = file.sha256, let kept, own != kept {
        throw StoreError(
          .integrity,
          "the URL demands the SHA-256 \(own), and '\(lock?.relativePath ?? "")' \(kept) for '\(file.source)'")
      }
      let request = FetchRequest(
        address: file, name: asked?.name ?? file.modelName, version: asked?.version, sha256: file.sha256 ?? kept)
      let fetched = try self.fetch(request, FetchMeter(isCancelled: isCancelled, report: progress))
      try hashes?.keep(fetched.model.sha256, of: file)
      return fetched
    }
  }

  /// Fetches a model that a manifest lists, unless the store has it. Without the server, a version in the store is the
  /// answer.
  ///
  /// - Parameters:
  ///   - name: `NAME`, for the newest version of the manifest, or `NAME@VERSION`.
  ///   - manifest: The URL of the manifest, as for ``fetch(_:name:lock:progress:)``.
  ///   - key: The public key that must have signed the manifest. The signature is at the manifest's URL with `.sig`
  ///     appended. Nil accepts any manifest.
  ///   - progress: Called on another thread.
  /// - Throws: `StoreError`; `integrity` if the key did not sign the manifest.
  public func fetch(
    _ name: String, from manifest: String, key: Data? = nil,
    progress: @escaping @Sendable (FetchProgress) -> Void = { _ in }
  ) async throws(StoreError) -> FetchedModel {
    try await Self.blocking { (isCancelled) throws(StoreError) in
      let asked = try ModelName(checking: name)
      let source = try ModelAddress(manifest, environment: self.environment)
      let signer = key.map { Digest(Array($0)).description }
      let list: Manifest
      do throws(StoreError) { list = try self.manifest(at: source, key, isCancelled) } catch {
        guard error.code == .network, let kept = try self.model(named: name), kept.record.signer == signer || key == nil
        else { throw error }
        return FetchedModel(
          model: try self.chooseAgain(kept), isNew: false,
          remarks: ["the store's version \(kept.version) is used, because \(error)"])
      }
      let model: Manifest.Model
      do throws(PackagingError) { model = try list.model(asked.name, version: asked.version) } catch {
        throw StoreError(error, "'\(source.source)'")
      }
      return try self.fetch(
        Self.request(model, of: source, signer), FetchMeter(isCancelled: isCancelled, report: progress))
    }
  }

  /// Fetches the newest version of each model of a manifest that has one of some tags, such as the models of one screen
  /// of a program. Versions that the store has are not downloaded.
  ///
  /// - Parameters:
  ///   - tags: The tags. A model needs one of them.
  ///   - manifest: The URL of the manifest, as for ``fetch(_:from:key:progress:)``.
  ///   - key: The public key that must have signed the manifest; nil accepts any manifest.
  ///   - progress: Called on another thread, with the progress of all models together.
  /// - Returns: The models in the order of the manifest. Without the server, the current versions in the store that have
  ///   one of the tags.
  /// - Throws: `StoreError`; `absent` if no model has one of the tags.
  public func request(
    tags: Set<String>, from manifest: String, key: Data? = nil,
    progress: @escaping @Sendable (FetchProgress) -> Void = { _ in }
  ) async throws(StoreError) -> [FetchedModel] {
    try await Self.blocking { (isCancelled) throws(StoreError) in
      let source = try ModelAddress(manifest, environment: self.environment)
      let signer = key.map { Digest(Array($0)).description }
      let list: Manifest
      do throws(StoreError) { list = try self.manifest(at: source, key, isCancelled) } catch {
        let kept = try self.models().filter { model in
          model.isCurrent && !tags.isDisjoint(with: model.tags) && (key == nil || model.record.signer == signer)
        }
        guard error.code == .network, !kept.isEmpty else { throw error }
        return kept.map {
          FetchedModel(model: $0, isNew: false, remarks: ["the store is used, because \(error)"])
        }
      }
      let wanted = Self.newest(of: list, tags)
      guard !wanted.isEmpty else {
        throw StoreError(
          .absent, "'\(source.source)' has no model with the tag \(tags.sorted().joined(separator: " or "))")
      }
      let total = wanted.reduce(0) { $0 + $1.bytes }
      var (done, fetched) = (0, [FetchedModel]())
      for model in wanted {
        let before = done
        let meter = FetchMeter(isCancelled: isCancelled) { progress($0.within(before: before, total: total)) }
        fetched.append(try self.fetch(Self.request(model, of: source, signer), meter))
        done += model.bytes
        progress(FetchProgress(receivedByteCount: done, totalByteCount: total, bytesPerSecond: nil))
      }
      return fetched
    }
  }

  /// Returns the newest version of each model, if it has one of some tags.
  private static func newest(of list: Manifest, _ tags: Set<String>) -> [Manifest.Model] {
    var found: [Manifest.Model] = []
    for model in list.models where !found.contains(where: { $0.name == model.name }) {
      if let newest = try? list.model(model.name, version: nil), !tags.isDisjoint(with: newest.tags) {
        found.append(newest)
      }
    }
    return found
  }

  private static func blocking<Result: Sendable>(
    _ body: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(StoreError) -> Result
  ) async throws(StoreError) -> Result {
    let result: Swift.Result<Result, StoreError>
    do throws(ModelError) {
      result = try await BlockingWork.run { (cancellation) throws(ModelError) in
        Swift.Result { () throws(StoreError) in try body { cancellation.isCancelled } }
      }
    } catch { throw StoreError(.cancelled, "the request was cancelled") }
    return try result.get()
  }

  private static let largestManifest = 16 << 20
  private static let largestSignature = 1 << 12

  private func manifest(
    at source: ModelAddress, _ key: Data?, _ isCancelled: @escaping () -> Bool
  ) throws(StoreError) -> Manifest {
    let bytes = try SmallDownload.bytes(source, limits, limit: Self.largestManifest, isCancelled)
    if let demanded = source.sha256, demanded != Digest(bytes).description {
      throw StoreError(
        .integrity, "'\(source.source)' has the SHA-256 \(Digest(bytes)), expected \(demanded); it was changed")
    }
    let signature = try key.map { (_) throws(StoreError) in
      try SmallDownload.bytes(
        try source.appending(".sig"), limits, limit: Self.largestSignature, isCancelled)
    }
    do throws(PackagingError) {
      if let key, let signature { try Manifest.verify(bytes, signature: signature, key: Array(key)) }
    } catch { throw StoreError(error, "'\(source.source)' is not trusted") }
    do throws(PackagingError) { return try Manifest.read(bytes) } catch {
      throw StoreError(error, "'\(source.source)' is not a manifest that can be used")
    }
  }

  private static func request(
    _ model: Manifest.Model, of manifest: ModelAddress, _ signer: String?
  ) throws(StoreError) -> FetchRequest {
    guard ModelName.isValid(model.name), ModelName.isValid("\(model.version)"),
      ModelAddress.isDigest(model.sha256.lowercased())
    else {
      throw StoreError(
        .invalid,
        "'\(manifest.source)' lists '\(model.name)@\(model.version)', whose name, version or SHA-256 is not valid")
    }
    return FetchRequest(
      address: try manifest.sibling(model.file), name: model.name, version: "\(model.version)",
      sha256: model.sha256.lowercased(), byteCount: model.bytes, tags: model.tags, signer: signer)
  }

  // MARK: One file

  private func fetch(_ request: FetchRequest, _ meter: FetchMeter) throws(StoreError) -> FetchedModel {
    if let kept = try kept(request) { return FetchedModel(model: kept, isNew: false, remarks: []) }
    try folder.prepare()
    let place = folder.path(Self.downloadsName)
    try StoreFolder.makeFolder(place)
    let part = "\(place)/\(request.address.identity.prefix(32)).part"
    let before = Set(versions(of: request.name).map(\.version))
    var hasWaited = false
    let lock = try FileLock.take("\(part).lock") {
      hasWaited = true
      return meter.continues()
    }
    defer {
      if access(part.pathBytes, F_OK) != 0 { unlink("\(part).lock".pathBytes) }
      withExtendedLifetime(lock) {}
    }
    if let kept = try kept(request) { return FetchedModel(model: kept, isNew: false, remarks: []) }
    let known = versions(of: request.name).first { $0.record.address == request.address.identity }
    // The process that held the lock may have fetched it now.
    if hasWaited, request.version == nil, let known, !before.contains(known.version) {
      return FetchedModel(model: known, isNew: false, remarks: [])
    }
    return try download(request, at: part, known: request.sha256 == nil && request.version == nil ? known : nil, meter)
  }

  /// Returns the version that a request demands, if the store has it.
  ///
  /// - Throws: `integrity` if the store has other contents under the version.
  private func kept(_ request: FetchRequest) throws(StoreError) -> StoredModel? {
    guard request.version != nil || request.sha256 != nil, try folder.check() else { return nil }
    let kept = versions(of: request.name).first {
      request.version == nil ? $0.sha256 == request.sha256 : $0.version == request.version
    }
    guard let kept else { return nil }
    if let sha256 = request.sha256, sha256 != kept.sha256 {
      throw StoreError(
        .integrity,
        "the store has '\(kept.name)@\(kept.version)' with the SHA-256 \(kept.sha256), expected \(sha256); a version does "
          + "not change, so give the new contents a new version, or remove it: kelvin models --remove "
          + "\(kept.name)@\(kept.version)")
    }
    return try chooseAgain(kept)
  }

  /// The version for contents that have none.
  private static func version(_ sha256: String) -> String { String(sha256.prefix(12)) }

  private func download(
    _ request: FetchRequest, at part: String, known: StoredModel?, _ meter: FetchMeter
  ) throws(StoreError) -> FetchedModel {
    let address = request.address
    var limits = limits
    if let quota { limits.byteCount = min(limits.byteCount, quota) }
    let download = Download(
      address, limits, sha256: request.sha256, byteCount: request.byteCount, at: part, meter)
    let outcome: Download.Outcome?
    do throws(StoreError) { outcome = try download.run(unless: known?.record.validators) } catch {
      if error.code == .invalid || error.code == .integrity || error.code == .quota { download.discard() }
      guard error.code == .network, let known else { throw error }
      return FetchedModel(
        model: try chooseAgain(known), isNew: false,
        remarks: ["the store's version \(known.version) is used, because \(error)"])
    }
    guard let outcome else {
      download.discard()
      if let known { return FetchedModel(model: try chooseAgain(known), isNew: false, remarks: []) }
      throw StoreError(.network, "'\(address.source)' did not send the file; try again")
    }
    let staging = try makeStaging()
    defer { download.discard() }
    let arrival = try Arrival(part, address, as: request.name, in: staging.path)
    let record = VersionRecord(
      model: arrival.model, from: address, sha256: outcome.sha256, byteCount: arrival.byteCount,
      tags: request.tags, arrival: Date().timeIntervalSince1970, validators: outcome.validators, signer: request.signer)
    let (model, isNew, removed) = try install(
      staging, as: request.name, version: request.version ?? Self.version(outcome.sha256), record)
    return FetchedModel(
      model: model, isNew: isNew,
      remarks: removed.map { "'\($0.name)@\($0.version)' was removed, because the quota is reached" })
  }
}
