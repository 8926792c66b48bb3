import CKelvinShaders
import FoundationEssentials
import KelvinVulkan
import Testing

/// The package's folder, from the path of this file.
private let root = URL(filePath: #filePath)
  .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// The rows of `Shaders/variants.txt`: a name, a source, defines.
func shaderRows() throws -> [[String]] {
  let text = try String(contentsOf: root.appending(path: "Shaders/variants.txt"), encoding: .utf8)
  return text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { $0.split(separator: " ").map(String.init) }
}

struct ShaderSourceTests {
  @Test func committedModulesMatchTheCommittedSources() throws {
    let shaders = root.appending(path: "Shaders")
    let rows = try String(contentsOf: shaders.appending(path: "SOURCES.sha256"), encoding: .utf8).split(separator: "\n")
    var listed: [String: String] = [:]
    for row in rows {
      let parts = row.split(separator: " ")
      listed[String(try #require(parts.last))] = String(try #require(parts.first))
    }
    func names(_ folder: String) throws -> [String] {
      try FileManager.default.contentsOfDirectory(atPath: shaders.appending(path: folder).path)
    }
    let files =
      try names(".") + ["Generated", "shared"].flatMap { folder in try names(folder).map { "\(folder)/\($0)" } }
    let sources = files.filter { file in
      [".comp", ".glsl", ".kernel", "variants.txt"].contains(where: file.hasSuffix)
    }
    #expect(Set(sources) == Set(listed.keys))
    for source in sources {
      let bytes = [UInt8](try Data(contentsOf: shaders.appending(path: source)))
      #expect(sha256(bytes) == listed[source], "\(source) has changed: run dev/build-shaders.sh")
    }
  }

  @Test func everyVariantIsEmbedded() throws {
    let rows = try shaderRows()
    let all = Set(rows.map { $0[0] })
    let names = rows.flatMap { row in
      (row.contains { ["-DSHUFFLE", "-DBOUNDED"].contains($0) } ? [] : [row[0]])
        + (row.contains { ["-DCOOPERATIVE", "-DPAIR"].contains($0) } ? [] : ["\(row[0])_texels"])
        + (row.contains { ["-DHALF", "-DCODED", "-DSCALARS", "-DPAIR", "-DLOCAL"].contains($0) }
          || all.contains("\(row[0])_shuffle") ? [] : ["\(row[0])_images"])
    }
    var count = 0
    let modules = UnsafeBufferPointer(start: kelvin_spirv_modules(&count), count: count)
    #expect(modules.map { String(cString: $0.name) } == names)
    for module in modules {
      #expect(module.count % 4 == 0 && UInt(bitPattern: module.bytes) % 4 == 0)
      let magic = UnsafeRawPointer(module.bytes).load(as: UInt32.self)
      #expect(magic == 0x0723_0203)
    }
  }

  /// The mode is inserted at its place, and nothing else changes.
  @Test func everyModuleAcceptsTheSpecialValueMode() throws {
    var count = 0
    for module in UnsafeBufferPointer(start: kelvin_spirv_modules(&count), count: count) {
      let words = (0..<module.count / 4).map { word in
        UnsafeRawPointer(module.bytes).load(fromByteOffset: 4 * word, as: UInt32.self)
      }
      let plain = instructions(words)
      let added = instructions(SpecialValueMode.added(to: words))
      let point = try #require(plain.first { $0[0] & 0xFFFF == 15 })[2]
      let name = Array("SPV_KHR_float_controls".utf8) + [0, 0]
      let capability: [UInt32] = [2 << 16 | 17, 4466]
      let mode: [UInt32] = [4 << 16 | 16, point, 4461, 32]
      let text = stride(from: 0, to: name.count, by: 4).map { at in
        (0..<4).reduce(UInt32(0)) { $0 | UInt32(name[at + $1]) << UInt32(8 * $1) }
      }
      let `extension`: [UInt32] = [UInt32(text.count + 1) << 16 | 10] + text
      let firstOther = try #require(plain.firstIndex { $0[0] & 0xFFFF != 17 })
      let entry = try #require(plain.firstIndex { $0[0] & 0xFFFF == 15 })
      var expected = plain
      expected.insert(mode, at: entry + 1)
      expected.insert(contentsOf: [capability, `extension`], at: firstOther)
      #expect(added == expected, "\(String(cString: module.name))")
    }
  }

  private func instructions(_ module: [UInt32]) -> [[UInt32]] {
    var result: [[UInt32]] = []
    var at = 5
    while at < module.count {
      let length = max(Int(module[at] >> 16), 1)
      result.append(Array(module[at..<min(at + length, module.count)]))
      at += length
    }
    return result
  }

  @Test func sha256MatchesTheStandard() {
    #expect(sha256(Array("abc".utf8)).hasPrefix("ba7816bf8f01cfea414140de5dae2223"))
  }
}

/// SHA-256 (FIPS 180-4), in hexadecimal.
private func sha256(_ message: [UInt8]) -> String {
  func isPrime(_ n: Int) -> Bool { n > 1 && !(2..<n).contains { $0 * $0 <= n && n % $0 == 0 } }
  let primes = Array((2...311).lazy.filter(isPrime))
  func fraction(_ root: Double, _ n: Int, cubic: Bool) -> UInt32 {
    // The first 32 bits of the fractional part of a root, made exact by comparing integer powers.
    var bits = UInt64(root * 0x1p32)
    func tooLarge(_ x: UInt64) -> Bool {
      let wide = cubic ? power(x, 3) : power(x, 2)
      let limit = shifted(UInt64(n), cubic ? 96 : 64)
      return wide.high > limit.high || (wide.high == limit.high && wide.low > limit.low)
    }
    while tooLarge(bits) { bits -= 1 }
    while !tooLarge(bits + 1) { bits += 1 }
    return UInt32(truncatingIfNeeded: bits)
  }
  func power(_ x: UInt64, _ n: Int) -> (high: UInt64, low: UInt64) {
    let square = x.multipliedFullWidth(by: x)
    guard n == 3 else { return (square.high, square.low) }
    let low = square.low.multipliedFullWidth(by: x)
    return (square.high * x + low.high, low.low)
  }
  func shifted(_ n: UInt64, _ count: Int) -> (high: UInt64, low: UInt64) { (n << UInt64(count - 64), 0) }
  let constants = primes.prefix(64).map { fraction(cubeRoot(Double($0)), $0, cubic: true) }
  var state = primes.prefix(8).map { fraction(Double($0).squareRoot(), $0, cubic: false) }
  var bytes = message + [0x80]
  while bytes.count % 64 != 56 { bytes.append(0) }
  bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: UInt64(message.count * 8) >> UInt64($0 * 8)) }
  func rotated(_ x: UInt32, _ n: UInt32) -> UInt32 { x >> n | x << (32 - n) }
  for block in stride(from: 0, to: bytes.count, by: 64) {
    var words = (0..<16).map { word in (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[block + word * 4 + $1]) } }
    for index in 16..<64 {
      let (a, b) = (words[index - 15], words[index - 2])
      let first = rotated(a, 7) ^ rotated(a, 18) ^ a >> 3
      let second = rotated(b, 17) ^ rotated(b, 19) ^ b >> 10
      words.append(words[index - 16] &+ first &+ words[index - 7] &+ second)
    }
    var work = state
    for index in 0..<64 {
      let e = work[4]
      let a = work[0]
      let choice = (e & work[5]) ^ (~e & work[6])
      let majority = (a & work[1]) ^ (a & work[2]) ^ (work[1] & work[2])
      let sum = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
      let first = work[7] &+ sum &+ choice &+ constants[index] &+ words[index]
      let second = (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) &+ majority
      work = [first &+ second, a, work[1], work[2], work[3] &+ first, e, work[5], work[6]]
    }
    for index in 0..<8 { state[index] = state[index] &+ work[index] }
  }
  return state.map { word in
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }.joined()
}

private func cubeRoot(_ x: Double) -> Double {
  var root = x
  for _ in 0..<60 { root = (2 * root + x / (root * root)) / 3 }
  return root
}
