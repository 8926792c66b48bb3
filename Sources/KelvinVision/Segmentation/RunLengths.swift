public import Kelvin

/// A mask in COCO's run-length encoding: alternating numbers of pixels outside and inside, in column-major order.
public struct RunLengths: Hashable, Sendable, Codable {
  /// The number of rows of the image.
  public let height: Int
  /// The number of columns of the image.
  public let width: Int
  /// The alternating numbers of pixels outside and inside; the first may be zero.
  public let counts: [Int]

  package init(height: Int, width: Int, counts: [Int]) {
    self.height = height
    self.width = width
    self.counts = counts
  }

  /// The counts in COCO's compressed string format (`rleToString` of its C interface). From the fourth count on, a
  /// count is stored as the difference to the count two before it. Each value is split into groups of five bits, the
  /// lowest first. A sixth bit tells whether more groups follow, and 48 is added to each group.
  public var compressed: String {
    var bytes: [UInt8] = []
    for index in counts.indices {
      var value = index > 2 ? counts[index] - counts[index - 2] : counts[index]
      var goesOn = true
      while goesOn {
        let piece = value & 31
        value >>= 5
        // The highest bit of the last group is the sign.
        goesOn = piece & 16 != 0 ? value != -1 : value != 0
        bytes.append(UInt8(48 + piece + (goesOn ? 32 : 0)))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Decodes counts from a string that ``compressed`` wrote; nil for an invalid string.
  package static func counts(compressed text: String) -> [Int]? {
    var (counts, value, shift): ([Int], Int, Int) = ([], 0, 0)
    for byte in text.utf8 {
      let piece = Int(byte) - 48
      guard (0..<64).contains(piece), shift < 60 else { return nil }
      value |= (piece & 31) << shift
      shift += 5
      guard piece & 32 == 0 else { continue }
      if piece & 16 != 0 { value |= -1 << shift }
      counts.append(counts.count > 2 ? counts[counts.count - 2] &+ value : value)
      (value, shift) = (0, 0)
    }
    return counts
  }

  /// The number of pixels inside.
  public var area: Int { stride(from: 1, to: counts.count, by: 2).reduce(0) { $0 + counts[$1] } }

  /// The smallest rectangle that contains all pixels inside; nil where there are none.
  public var boundingBox: PixelRect? {
    var (left, right, top, bottom) = (width, -1, height, -1)
    var at = 0
    for (index, count) in counts.enumerated() {
      defer { at += count }
      guard index & 1 == 1, count > 0 else { continue }
      let (first, last) = (at, at + count - 1)
      (left, right) = (min(left, first / height), max(right, last / height))
      let isWithinColumn = first / height == last / height
      top = isWithinColumn ? min(top, first % height) : 0
      bottom = isWithinColumn ? max(bottom, last % height) : height - 1
    }
    return right < 0 ? nil : PixelRect(x: left, y: top, width: right - left + 1, height: bottom - top + 1)
  }
}

extension LabelMap {
  /// Returns the run lengths of all classes in the map, computed in one pass over its columns.
  func runLengths() -> [UInt8: RunLengths] {
    let columns = transposed()
    var counts = [[Int]](repeating: [], count: 256)
    var ends = [Int](repeating: 0, count: 256)
    var start = 0
    while start < columns.count {
      let label = columns[start]
      var end = start + 1
      while end < columns.count, columns[end] == label { end += 1 }
      counts[Int(label)].append(start - ends[Int(label)])
      counts[Int(label)].append(end - start)
      ends[Int(label)] = end
      start = end
    }
    var result: [UInt8: RunLengths] = [:]
    for label in 0..<256 where !counts[label].isEmpty {
      if ends[label] < columns.count { counts[label].append(columns.count - ends[label]) }
      result[UInt8(label)] = RunLengths(height: height, width: width, counts: counts[label])
    }
    return result
  }

  /// Returns the classes in column-major order, transposed in tiles that fit the caches.
  private func transposed() -> [UInt8] {
    let tile = 64
    return [UInt8](unsafeUninitializedCapacity: classes.count) { target, count in
      classes.withUnsafeBufferPointer { source in
        for top in stride(from: 0, to: height, by: tile) {
          for left in stride(from: 0, to: width, by: tile) {
            for x in left..<min(left + tile, width) {
              for y in top..<min(top + tile, height) {
                target.initializeElement(at: x * height + y, to: source[y * width + x])
              }
            }
          }
        }
      }
      count = classes.count
    }
  }
}
