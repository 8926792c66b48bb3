import CKelvinFiles
import Glibc

/// A region of memory that does not change: part of a mapped file, or memory of our own. Copies share it.
package struct Bytes: Sendable {
  /// Keeps the memory alive; unmaps or frees it with the last region that refers to it.
  private let owner: Owner
  package let offset: Int
  package let count: Int

  private init(owner: Owner, offset: Int, count: Int) {
    self.owner = owner
    self.offset = offset
    self.count = count
  }

  /// Copies `source`.
  package init(copying source: UnsafeRawBufferPointer) {
    self.init(count: source.count) { target in
      if let base = source.baseAddress { target.baseAddress?.copyMemory(from: base, byteCount: source.count) }
    }
  }

  package init<Element: BitwiseCopyable>(_ elements: [Element]) {
    self = elements.withUnsafeBytes { Bytes(copying: $0) }
  }

  /// Allocates `count` zeroed bytes, aligned to a page where they take one, and lets `fill` write them before they become
  /// immutable.
  package init<Failure: Error>(
    count: Int, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let owner = Owner(allocating: count)
    try fill(UnsafeMutableRawBufferPointer(start: owner.base, count: count))
    self.init(owner: owner, offset: 0, count: count)
  }

  /// A file's bytes, by a path of the user's own. See `init(mapping:)`.
  package init(mapping path: String) throws(FileError) { try self.init(mapping: OpenFile(path)) }

  /// A file's bytes. A large file is mapped read-only: its pages are read when they are touched, and what was computed
  /// from them counts only if `checkUnchanged` then returns. A small one is read at once.
  ///
  /// - Throws: `FileError` naming the path and the system's reason.
  package init(mapping file: OpenFile) throws(FileError) {
    guard file.byteCount >= Self.mappedFrom else {
      try self.init(reading: file)
      return
    }
    self.init(owner: Owner(mapped: try file.map(), file), offset: 0, count: file.byteCount)
    guard isGuarded else { throw FileError(path: file.path, action: "map", code: ENOMEM) }
  }

  /// The bytes of a file that is read once and whole: whatever becomes of it later, they stay.
  ///
  /// - Throws: `FileError`, also where the file changes while it is read, or memory does not hold it.
  package init(reading file: OpenFile) throws(FileError) {
    guard let memory = ZeroedMemory(count: file.byteCount) else {
      throw FileError(path: file.path, action: "read", code: ENOMEM)
    }
    try file.read(into: UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: file.byteCount))
    try file.checkUnchanged()
    self.init(owner: Owner(memory, file.state), offset: 0, count: file.byteCount)
  }

  /// Files of at least so many bytes are mapped: reading fewer takes no longer than mapping them does.
  private static let mappedFrom = 1 << 18

  /// The file that this is part of, `offset` bytes from its start; nil for memory of our own.
  package var file: FileState? { owner.file }
  /// Whether this is part of a file.
  package var isOfFile: Bool { owner.file != nil }
  private var isGuarded: Bool { owner.isGuarded }

  /// Whether all that was read of a mapped file is what it held when it was opened.
  ///
  /// - Throws: `FileError` where it was cut short or written to, or could not be read.
  package func checkUnchanged() throws(FileError) { try owner.checkUnchanged() }

  /// Part of this region, sharing its memory; nil where the range lies outside it.
  package func slice(offset: Int, count: Int) -> Bytes? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return Bytes(owner: owner, offset: self.offset + offset, count: count)
  }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: owner.base + offset, count: count))
  }

  /// The first byte, valid as long as this region or a copy of it lives.
  package var baseAddress: UnsafeRawPointer { UnsafeRawPointer(owner.base + offset) }

  /// A region that does not keep its memory alive.
  package struct Unowned: Sendable {
    private weak var owner: Owner?
    private let offset: Int
    private let count: Int

    package init(_ bytes: Bytes) {
      owner = bytes.owner
      offset = bytes.offset
      count = bytes.count
    }

    /// The region, as long as anybody else keeps its memory.
    package var bytes: Bytes? { owner.map { Bytes(owner: $0, offset: offset, count: count) } }
  }

  /// What a region is part of.
  fileprivate final class Owner: @unchecked Sendable {
    private enum Origin {
      case mapping(UnsafeMutableRawPointer, OpenFile, guard: OpaquePointer?)
      case memory(ZeroedMemory, of: FileState?)
    }

    private let origin: Origin

    init(allocating count: Int) {
      guard let memory = ZeroedMemory(count: count) else { fatalError("no memory is left for \(count) bytes") }
      origin = .memory(memory, of: nil)
    }

    init(_ memory: ZeroedMemory, _ file: FileState) { origin = .memory(memory, of: file) }

    init(mapped base: UnsafeMutableRawPointer, _ file: OpenFile) {
      origin = .mapping(base, file, guard: ck_guard_begin(base, file.byteCount))
    }

    deinit {
      guard case .mapping(let base, let file, let watch) = origin else { return }
      if let watch { ck_guard_end(watch) }
      munmap(base, file.byteCount)
    }

    var base: UnsafeMutableRawPointer {
      switch origin {
      case .mapping(let base, _, _): base
      case .memory(let memory, _): memory.baseAddress
      }
    }

    var file: FileState? {
      switch origin {
      case .mapping(_, let file, _): file.state
      case .memory(_, let file): file
      }
    }

    var isGuarded: Bool { if case .mapping(_, _, .some) = origin { true } else { false } }

    func checkUnchanged() throws(FileError) {
      guard case .mapping(_, let file, let watch?) = origin else { return }
      // What could not be read is looked at last: the size says more.
      try file.checkUnchanged()
      guard !ck_guard_is_damaged(watch) else {
        throw FileError(path: file.path, action: "read", reason: "a part of it could not be read when it was needed")
      }
    }
  }
}

extension Bytes {
  /// The same contents at an address where elements of `T` may lie.
  package func aligned<T: BitwiseCopyable>(to: T.Type) -> Bytes {
    guard UInt(bitPattern: baseAddress) % UInt(MemoryLayout<T>.alignment) != 0 else { return self }
    return withUnsafeBytes { Bytes(copying: $0) }
  }
}
