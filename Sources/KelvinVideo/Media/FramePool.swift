import Glibc
import Kelvin
import Synchronization

/// Page-aligned memory for frames of one size. A frame returns its memory when its last user releases it.
final class FramePool: Sendable {
  /// Free buffers that are kept. Further ones go back to the system.
  private static let keptBuffers = 4

  fileprivate struct Block: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
  }

  let width: Int
  let height: Int
  let format: PixelFormat
  /// The bytes of a frame: both planes, without gaps.
  let byteCount: Int
  private let free = Mutex<[Block]>([])

  /// - Parameter format: a format with two planes.
  init(width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
    byteCount = format.planes(width: width, height: height).reduce(0) { $0 + $1.rowBytes * $1.rows }
  }

  deinit { free.withLock { blocks in blocks.forEach { Glibc.free($0.base) } } }

  /// Memory of one frame, which returns to the pool with the last reference.
  final class Buffer: Sendable {
    private let pool: FramePool
    private let block: Block

    var bytes: UnsafeMutableRawBufferPointer {
      UnsafeMutableRawBufferPointer(start: block.base, count: pool.byteCount)
    }

    fileprivate init(_ pool: FramePool, _ block: Block) { (self.pool, self.block) = (pool, block) }

    deinit { pool.give(block) }

    /// The bytes as an image without a copy, which keeps this memory. They must not change any more.
    func image() throws(VideoError) -> PixelBuffer {
      var planes: [PixelPlane] = []
      var base = UnsafeRawPointer(block.base)
      for plane in pool.format.planes(width: pool.width, height: pool.height) {
        planes.append(PixelPlane(base, bytesPerRow: plane.rowBytes))
        base += plane.rowBytes * plane.rows
      }
      do throws(ImageError) {
        return try PixelBuffer(width: pool.width, height: pool.height, format: pool.format, planes: planes) {
          withExtendedLifetime(self) {}
        }
      } catch { throw VideoError(.unreadable, error.description) }
    }
  }

  /// Returns memory for one frame.
  func take() throws(VideoError) -> Buffer {
    if let block = free.withLock({ $0.popLast() }) { return Buffer(self, block) }
    var base: UnsafeMutableRawPointer?
    guard posix_memalign(&base, 4096, byteCount) == 0, let base else {
      throw VideoError(.unreadable, "there is no memory for a frame of \(byteCount) bytes")
    }
    return Buffer(self, Block(base: base))
  }

  private func give(_ block: Block) {
    let isKept = free.withLock { blocks in
      guard blocks.count < Self.keptBuffers else { return false }
      blocks.append(block)
      return true
    }
    if !isKept { Glibc.free(block.base) }
  }
}
