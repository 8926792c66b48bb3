import Glibc
package import KelvinBasics

/// An immutable region of memory: part of a mapped file, or allocated memory. Copies share it.
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

  /// Copies `source` under the name of the file at `path`, which does not need to exist.
  package init(copying source: UnsafeRawBufferPointer, named path: String) {
    self.init(count: source.count, named: path) { $0.copyMemory(from: source) }
  }

  package init<Element: BitwiseCopyable>(_ elements: [Element]) {
    self = elements.withUnsafeBytes { Bytes(copying: $0) }
  }

  /// Allocates `count` zeroed bytes, aligned to a page if they take at least one, and lets `fill` write them before
  /// they become immutable. `path` names the file that they stand for, which does not need to exist.
  package init<Failure: Error>(
    count: Int, named path: String? = nil, fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let owner = Owner(allocating: count, named: path)
    try fill(UnsafeMutableRawBufferPointer(start: owner.base, count: count))
    self.init(owner: owner, offset: 0, count: count)
  }

  /// Reads or maps a file's bytes, by a path of the user; see `init(mapping:)`.
  package init(mapping path: String) throws(FileError) { try self.init(mapping: OpenFile(path)) }

  /// Reads or maps a file's bytes. A small file is read immediately. A large file is mapped read-only: its pages are
  /// read on demand, and results that are computed from them are valid only if `SourceFiles.vouching` confirms it.
  ///
  /// - Throws: `FileError` that names the path and the system's reason.
  package init(mapping file: OpenFile) throws(FileError) {
    guard file.byteCount >= Self.mappedFrom else {
      try self.init(reading: file)
      return
    }
    self.init(owner: Owner(try MappedFile(file)), offset: 0, count: file.byteCount)
  }

  /// Reads a whole file once; later changes of the file do not affect the bytes.
  ///
  /// - Throws: `FileError`, also if the file keeps changing while it is read, or does not fit into memory.
  package init(reading file: OpenFile) throws(FileError) {
    guard let memory = ZeroedMemory(count: file.byteCount) else {
      throw FileError(path: file.path, action: "read", code: ENOMEM)
    }
    let target = UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: file.byteCount)
    let state = try file.readWhole(into: target)
    self.init(owner: Owner(memory, path: file.path, state), offset: 0, count: file.byteCount)
  }

  /// The minimum size in bytes of files that are mapped; reading smaller files is not slower than mapping them.
  private static let mappedFrom = 1 << 18

  /// The path of the file that this is part of, beginning `offset` bytes from its start; nil for allocated memory.
  package var path: String? { owner.file?.path }
  /// The state in which that file held these bytes; nil if only its path is known.
  package var state: FileState? { owner.file?.state }
  /// Whether the region is part of a file.
  package var isOfFile: Bool { owner.file != nil }

  /// Returns the number of times that the mapped file was changed and found to hold its original contents; 0 for
  /// memory. A result that is computed between two equal counts is computed from the original contents. The call is
  /// cheap, except for the first one after a change.
  ///
  /// - Parameter ofContents: Ignores changes that only added or removed a name of the file and kept the time of its
  ///   last write. A process that can set that time could hide a write in this way.
  /// - Throws: `FileError` if the file was truncated or written to, or could not be read.
  package func touches(ofContents: Bool = false) throws(FileError) -> Int {
    guard let mapped = owner.mapped else { return 0 }
    let touches = try mapped.touches(Bytes(owner: owner, offset: 0, count: mapped.file.byteCount))
    return ofContents ? touches.contents : touches.all
  }

  /// Sets a closure that identifies the contents of the whole file, called when the file was changed. Without it, a
  /// changed file counts as written to.
  ///
  /// - Parameter holds: Returns whether these bytes, all of the file, are its original contents.
  package func recognize(by holds: @escaping @Sendable (Bytes) -> Bool) { owner.mapped?.recognize(by: holds) }

  /// Removes the whole pages of this region from memory if it is part of a mapped file. They are read again when they
  /// are next accessed.
  package func dropPages() { owner.mapped?.dropPages(offset..<offset + count) }

  /// Returns a part of this region, sharing its memory; nil if the range is outside.
  package func slice(offset: Int, count: Int) -> Bytes? {
    guard offset >= 0, count >= 0, offset <= self.count, count <= self.count - offset else { return nil }
    return Bytes(owner: owner, offset: self.offset + offset, count: count)
  }

  /// Returns the region extended by the bytes that follow it, up to `count` bytes; nil if its file or memory ends
  /// before.
  package func widened(to count: Int) -> Bytes? {
    guard count >= self.count, count <= owner.byteCount - offset else { return nil }
    return Bytes(owner: owner, offset: offset, count: count)
  }

  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: owner.base + offset, count: count))
  }

  /// The address of the first byte, valid during the lifetime of this region or a copy of it.
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

    /// The region, if other references keep its memory alive.
    package var bytes: Bytes? { owner.map { Bytes(owner: $0, offset: offset, count: count) } }
  }

  /// The memory or file that regions are part of.
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
  /// Returns the same contents at an address that is aligned for elements of `T`.
  package func aligned<T: BitwiseCopyable>(to: T.Type) -> Bytes {
    guard UInt(bitPattern: baseAddress) % UInt(MemoryLayout<T>.alignment) != 0 else { return self }
    return withUnsafeBytes { Bytes(copying: $0) }
  }
}
