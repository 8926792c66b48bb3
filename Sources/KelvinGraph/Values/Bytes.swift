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

  /// Maps a file read-only; its pages are read when they are touched.
  ///
  /// - Throws: `FileError` naming the path and the system's reason.
  package init(mapping path: String) throws(FileError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw FileError(path: path, action: "open", code: errno) }
    defer { close(descriptor) }
    try self.init(mapping: descriptor, of: path)
  }

  /// Maps an open file read-only; the descriptor may be closed afterwards.
  ///
  /// - Parameter path: what errors call it.
  /// - Throws: `FileError` where it is no regular file, or with the system's reason.
  package init(mapping descriptor: Int32, of path: String) throws(FileError) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw FileError(path: path, action: "examine", code: errno) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FileError(path: path, action: "map", reason: "it is not a regular file")
    }
    let count = Int(status.st_size)
    guard count > 0 else {
      self.init(owner: Owner(allocating: 0), offset: 0, count: 0)
      return
    }
    guard let base = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED else {
      throw FileError(path: path, action: "map", code: errno)
    }
    self.init(owner: Owner(mapped: base, count: count), offset: 0, count: count)
  }

  /// Whether this is part of a mapped file, `offset` bytes from the file's start; otherwise it is memory of our own.
  package var isMapped: Bool { owner.isFile }

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
      case file(UnsafeMutableRawPointer, count: Int)
      case memory(ZeroedMemory)
    }

    private let origin: Origin

    init(allocating count: Int) {
      guard let memory = ZeroedMemory(count: count) else { fatalError("no memory is left for \(count) bytes") }
      origin = .memory(memory)
    }

    init(mapped base: UnsafeMutableRawPointer, count: Int) { origin = .file(base, count: count) }

    deinit {
      if case .file(let base, let count) = origin { munmap(base, count) }
    }

    var base: UnsafeMutableRawPointer {
      switch origin {
      case .file(let base, _): base
      case .memory(let memory): memory.baseAddress
      }
    }

    var isFile: Bool { if case .file = origin { true } else { false } }
  }
}

extension Bytes {
  /// The same contents at an address where elements of `T` may lie.
  package func aligned<T: BitwiseCopyable>(to: T.Type) -> Bytes {
    guard UInt(bitPattern: baseAddress) % UInt(MemoryLayout<T>.alignment) != 0 else { return self }
    return withUnsafeBytes { Bytes(copying: $0) }
  }
}

/// A file could not be used.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
  package let path: String
  package let action: String
  package let reason: String
  /// The system's error number, or 0 where the reason is ours.
  package let code: Int32

  package init(path: String, action: String, code: Int32) {
    self.path = path
    self.action = action
    self.code = code
    reason = String(cString: strerror(code))
  }

  package init(path: String, action: String, reason: String) {
    self.path = path
    self.action = action
    self.reason = reason
    code = 0
  }

  package var description: String { "cannot \(action) '\(path)': \(reason)" }
}
