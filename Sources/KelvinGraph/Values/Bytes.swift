import Glibc
package import KelvinBasics

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

  /// Copies `source`, which is known as the file at `path`, of which there is none.
  package init(copying source: UnsafeRawBufferPointer, named path: String) {
    let owner = Owner(allocating: source.count, named: path)
    if let base = source.baseAddress { owner.base.copyMemory(from: base, byteCount: source.count) }
    self.init(owner: owner, offset: 0, count: source.count)
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
  /// from them counts only if `SourceFiles.vouching` says so. A small one is read at once.
  ///
  /// - Throws: `FileError` naming the path and the system's reason.
  package init(mapping file: OpenFile) throws(FileError) {
    guard file.byteCount >= Self.mappedFrom else {
      try self.init(reading: file)
      return
    }
    self.init(owner: Owner(try MappedFile(file)), offset: 0, count: file.byteCount)
  }

  /// The bytes of a file that is read once and whole: whatever becomes of it later, they stay.
  ///
  /// - Throws: `FileError`, also where the file goes on changing while it is read, or memory does not hold it.
  package init(reading file: OpenFile) throws(FileError) {
    guard let memory = ZeroedMemory(count: file.byteCount) else {
      throw FileError(path: file.path, action: "read", code: ENOMEM)
    }
    let target = UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: file.byteCount)
    let state = try file.readWhole(into: target)
    self.init(owner: Owner(memory, path: file.path, state), offset: 0, count: file.byteCount)
  }

  /// Files of at least so many bytes are mapped: reading fewer takes no longer than mapping them does.
  private static let mappedFrom = 1 << 18

  /// The path of the file that this is part of, `offset` bytes from its start; nil for memory of our own.
  package var path: String? { owner.file?.path }
  /// The state in which that file held these bytes; nil where it is known by its path alone.
  package var state: FileState? { owner.file?.state }
  /// Whether this is part of a file.
  package var isOfFile: Bool { owner.file != nil }

  /// How often the mapped file that this is part of was touched and found to hold what it held when it was opened; 0 for
  /// memory. What was computed between two equal answers was computed from those contents. Takes less than a
  /// microsecond, but for the first time after it was touched.
  ///
  /// - Parameter ofContents: leaves out touches that took a name from the file or gave it one, and did not change the
  ///   time of its last write. Whoever may set that time could hide a write behind them.
  /// - Throws: `FileError` where it was cut short or written to, or could not be read.
  package func touches(ofContents: Bool = false) throws(FileError) -> Int {
    guard let mapped = owner.mapped else { return 0 }
    let touches = try mapped.touches(Bytes(owner: owner, offset: 0, count: mapped.file.byteCount))
    return ofContents ? touches.contents : touches.all
  }

  /// Says how the whole file that this is part of is told from any other: asked when the file was touched. Until then a
  /// file that is touched counts as changed.
  ///
  /// - Parameter holds: whether these bytes, all of the file, are what it held when it was opened.
  package func recognize(by holds: @escaping @Sendable (Bytes) -> Bool) { owner.mapped?.recognize(by: holds) }

  /// Part of this region, sharing its memory; nil where the range lies outside it.
  package func slice(offset: Int, count: Int) -> Bytes? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return Bytes(owner: owner, offset: self.offset + offset, count: count)
  }

  /// This region and what lies behind it up to `count` bytes, whatever that is; nil where its file or memory ends before.
  package func widened(to count: Int) -> Bytes? {
    guard count >= self.count, count <= owner.byteCount - offset else { return nil }
    return Bytes(owner: owner, offset: offset, count: count)
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
  fileprivate final class Owner: Sendable {
    private enum Origin {
      case mapping(MappedFile)
      case memory(ZeroedMemory, of: (path: String, state: FileState?)?)
    }

    private let origin: Origin

    init(allocating count: Int, named path: String? = nil) {
      guard let memory = ZeroedMemory(count: count) else { fatalError("no memory is left for \(count) bytes") }
      origin = .memory(memory, of: path.map { ($0, nil) })
    }

    init(_ memory: ZeroedMemory, path: String, _ state: FileState) { origin = .memory(memory, of: (path, state)) }

    init(_ file: MappedFile) { origin = .mapping(file) }

    var base: UnsafeMutableRawPointer {
      switch origin {
      case .mapping(let file): file.base
      case .memory(let memory, _): memory.baseAddress
      }
    }

    var byteCount: Int {
      switch origin {
      case .mapping(let file): file.file.byteCount
      case .memory(let memory, _): memory.count
      }
    }

    var mapped: MappedFile? { if case .mapping(let file) = origin { file } else { nil } }

    var file: (path: String, state: FileState?)? {
      switch origin {
      case .mapping(let mapped): (mapped.file.path, mapped.state)
      case .memory(_, let file): file
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
