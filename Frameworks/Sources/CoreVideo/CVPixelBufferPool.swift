import Kelvin
import Synchronization

/// A source of buffers of one size and format, which reuses the memory of released buffers.
public final class CVPixelBufferPool: Hashable, @unchecked Sendable {
  let width: Int
  let height: Int
  let type: OSType
  let attributes: CFDictionary
  private let layout: PlanarLayout
  private let shelf = Shelf()

  /// Returns a pool; nil for attributes without a valid size and format.
  init?(_ attributes: CFDictionary) {
    func number(_ key: CFString) -> Int? { (attributes[key] as? NSNumber)?.intValue }
    guard let width = number(kCVPixelBufferWidthKey), let height = number(kCVPixelBufferHeightKey),
      let type = number(kCVPixelBufferPixelFormatTypeKey).flatMap(OSType.init(exactly:)),
      let format = PixelFormat(type), let layout = PlanarLayout(format, width: width, height: height)
    else { return nil }
    (self.width, self.height, self.type, self.layout) = (width, height, type, layout)
    self.attributes = attributes
  }

  /// The number of buffers in use.
  var usedCount: Int { shelf.usedCount }

  /// Returns a buffer, whose pixels are those of a released buffer, or black.
  func makeBuffer() -> CVBuffer? {
    let memory = shelf.take(layout.byteCount)
    let planes = layout.over(memory) { [shelf] in shelf.put(memory) }
    return try? CVBuffer(width: width, height: height, type: type, memory: planes, attributes: attributes)
  }

  /// Frees the memory of buffers that are not in use.
  func flush() { shelf.clear() }

  public static func == (left: CVPixelBufferPool, right: CVPixelBufferPool) -> Bool { left === right }
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// The memory of a pool. Buffers keep it alive after the pool's end.
  private final class Shelf: Sendable {
    private struct State: @unchecked Sendable {
      var free: [UnsafeMutableRawPointer] = []
      var usedCount = 0
    }
    private let state = Mutex(State())

    var usedCount: Int { state.withLock(\.usedCount) }

    func take(_ byteCount: Int) -> UnsafeMutableRawPointer {
      let memory = state.withLock { state in
        state.usedCount += 1
        return Address(base: state.free.popLast())
      }
      if let base = memory.base { return base }
      let base = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
      base.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
      return base
    }

    func put(_ memory: UnsafeMutableRawPointer) {
      let address = Address(base: memory)
      state.withLock { state in
        state.usedCount -= 1
        if let base = address.base { state.free.append(base) }
      }
    }

    func clear() {
      state.withLock { state in
        for memory in state.free { memory.deallocate() }
        state.free = []
      }
    }

    deinit { clear() }
  }

  private struct Address: @unchecked Sendable { let base: UnsafeMutableRawPointer? }
}

/// Creates a pool.
///
/// - Returns: `kCVReturnInvalidPixelBufferAttributes` if the attributes do not give a valid width, height and format.
@discardableResult
public func CVPixelBufferPoolCreate(
  _ allocator: CFAllocator?, _ poolAttributes: CFDictionary?, _ pixelBufferAttributes: CFDictionary?,
  _ poolOut: UnsafeMutablePointer<CVPixelBufferPool?>
) -> CVReturn {
  guard let pool = pixelBufferAttributes.flatMap(CVPixelBufferPool.init) else {
    return kCVReturnInvalidPixelBufferAttributes
  }
  poolOut.pointee = pool
  return kCVReturnSuccess
}

/// Returns a buffer of a pool. Its pixels are those of a released buffer, or black.
@discardableResult
public func CVPixelBufferPoolCreatePixelBuffer(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(allocator, pixelBufferPool, nil, pixelBufferOut)
}

/// Returns a buffer of a pool, unless as many buffers as ``kCVPixelBufferPoolAllocationThresholdKey`` says are in use.
@discardableResult
public func CVPixelBufferPoolCreatePixelBufferWithAuxAttributes(
  _ allocator: CFAllocator?, _ pixelBufferPool: CVPixelBufferPool, _ auxAttributes: CFDictionary?,
  _ pixelBufferOut: UnsafeMutablePointer<CVPixelBuffer?>
) -> CVReturn {
  if let threshold = (auxAttributes?[kCVPixelBufferPoolAllocationThresholdKey] as? NSNumber)?.intValue,
    pixelBufferPool.usedCount >= threshold
  {
    return kCVReturnWouldExceedAllocationThreshold
  }
  guard let buffer = pixelBufferPool.makeBuffer() else { return kCVReturnPoolAllocationFailed }
  pixelBufferOut.pointee = buffer
  return kCVReturnSuccess
}

/// Frees the memory of buffers that are not in use.
public func CVPixelBufferPoolFlush(_ pool: CVPixelBufferPool, _ options: CVPixelBufferPoolFlushFlags) { pool.flush() }

/// Returns the attributes of a pool's buffers.
public func CVPixelBufferPoolGetPixelBufferAttributes(_ pool: CVPixelBufferPool) -> CFDictionary? { pool.attributes }

/// The buffers that ``CVPixelBufferPoolFlush(_:_:)`` frees.
public struct CVPixelBufferPoolFlushFlags: OptionSet, Sendable {
  public let rawValue: UInt64

  /// Creates flags from their bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// All buffers that are not in use.
  public static let excessBuffers = CVPixelBufferPoolFlushFlags(rawValue: 1)
}
