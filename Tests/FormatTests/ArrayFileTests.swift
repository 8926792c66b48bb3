import KelvinGraph
import KelvinImport
import TestSupport
import Testing

/// Files that NumPy writes.
@Suite struct ArrayFileTests {
  private static let strings = ["\u{E9}", "e\u{301}", "", "a\0b", "\u{1F600}", "long string"]

  private func contents(_ name: String) throws -> NPY.Contents {
    try NPY.contents(Bytes(mapping: "\(Shared.packageRoot)/Tests/Vectors/Arrays/\(name).npy"), name: "\(name).npy")
  }

  @Test(arguments: ["unicode_little", "unicode_big", "unicode_columns", "bytes"])
  func stringsKeepTheirScalarsAndTheirPlaces(name: String) throws {
    guard case .strings(let strings, let shape) = try contents(name) else {
      Issue.record("\(name) is not an array of strings")
      return
    }
    #expect(shape == [2, 3])
    #expect(strings.map { Array($0.utf8) } == Self.strings.map { Array($0.utf8) })
  }

  @Test(arguments: ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
  func bigEndianColumnMajorNumbersAreRead(code: String) throws {
    guard case .numbers(let tensor) = try contents("\(code)_big_columns") else {
      Issue.record("\(code) is not an array of numbers")
      return
    }
    #expect(tensor.shape == [2, 3, 4] && tensor.doubles == (0..<24).map(Double.init))
  }

  @Test func columnMajorBooleansAreRead() throws {
    guard case .numbers(let tensor) = try contents("bool_columns") else {
      Issue.record("not an array of booleans")
      return
    }
    #expect(tensor.type == TensorType(.bool, [2, 3, 4]))
    #expect(tensor.doubles == (0..<24).map { $0 % 3 == 0 ? 1 : 0 })
  }

  @Test func unreadableElementsAreRefusedWithARemedy() {
    for (name, remedy) in [("objects", "array.astype('U')"), ("latin", "numpy.char.decode")] {
      do {
        _ = try contents(name)
        Issue.record("\(name) was read")
      } catch { #expect("\(error)".contains(remedy) && "\(error)".contains("\(name).npy"), "\(error)") }
    }
  }

  @Test func damagedStringsAreRefused() throws {
    let file = TemporaryFolder.read("\(Shared.packageRoot)/Tests/Vectors/Arrays/unicode_little.npy")
    for length in 0..<file.count {
      #expect(throws: FormatError.self) { try NPY.contents(Bytes(Array(file[..<length])), name: "a") }
    }
    // A surrogate.
    var damaged = file
    damaged.replaceSubrange(128..<132, with: [0x00, 0xD8, 0, 0])
    #expect(throws: FormatError.self) { try NPY.contents(Bytes(damaged), name: "a") }
    // Strings without bytes would be unlimited in number.
    let header = "{'descr': '<U0', 'fortran_order': False, 'shape': (1073741824,), }\n"
    let empty = NPY.magic + [1, 0, UInt8(header.utf8.count), 0] + Array(header.utf8)
    #expect(throws: FormatError.self) { try NPY.contents(Bytes(empty), name: "a") }
  }
}
