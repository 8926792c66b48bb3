import KelvinGraph
import Testing

@Suite struct ZeroedMemoryTests {
  /// Sizes on both sides of the limit for system memory, and of whole pages.
  @Test(arguments: [0, 1, 4095, 4096, (1 << 20) - 1, 1 << 20, (1 << 21) - 1, 1 << 21, (1 << 22) + 5000])
  func memoryIsZeroAndWritable(count: Int) throws {
    for _ in 0..<3 {
      let memory = try #require(ZeroedMemory(count: count))
      #expect(memory.count == count)
      let alignment: UInt = count < 4096 ? 64 : 4096
      #expect(UInt(bitPattern: memory.baseAddress) % alignment == 0)
      let bytes = UnsafeMutableRawBufferPointer(start: memory.baseAddress, count: count)
      #expect(bytes.allSatisfy { $0 == 0 })
      bytes.initializeMemory(as: UInt8.self, repeating: 0xFF)
    }
  }

  @Test(arguments: [Int.max, Int.max - 4096, 1 << 62]) func tooLargeRequestIsRefused(count: Int) {
    #expect(ZeroedMemory(count: count) == nil)
  }
}
