import CKelvinKernels
import KelvinCPU
import Testing

@Suite struct VariantCheckTests {
  private static let nothing: ck_run = { _, _, _, _ in }

  private static var best: UnsafePointer<ck_kernels>? {
    var count = 0
    return ck_variants(&count)?.pointee
  }

  /// The best table, changed.
  private func fault(_ change: (inout ck_kernels) -> Void) throws -> String? {
    var table = try #require(Self.best).pointee
    change(&table)
    return withUnsafePointer(to: table) { VariantCheck.fault(of: $0) }
  }

  @Test func everyInstructionSetAgreesWithPlainC() throws {
    var count = 0
    let variants = try #require(ck_variants(&count))
    for index in 0..<count {
      let table = try #require(variants[index])
      #expect(VariantCheck.fault(of: table) == nil, "\(String(cString: table.pointee.name))")
    }
  }

  @Test func idleFloatKernelsAreDetected() throws {
    let members: [(String, WritableKeyPath<ck_kernels, ck_run?>)] = [
      ("coded", \.coded), ("depthwise", \.depthwise), ("window_pool", \.window_pool), ("unary", \.unary),
      ("binary", \.binary), ("reduce", \.reduce), ("softmax", \.softmax),
      ("batch_normalization", \.batch_normalization),
      ("layer_normalization", \.layer_normalization), ("response_normalization", \.response_normalization),
      ("resize", \.resize), ("fold", \.fold), ("compare", \.compare), ("select", \.select), ("cast", \.cast),
      ("blocked_depthwise", \.blocked_depthwise), ("blocked_pool", \.blocked_pool), ("attention", \.attention),
      ("running", \.running), ("rotary_embedding", \.rotary_embedding),
      ("float_from_half", \.float_from_half), ("half_from_float", \.half_from_float),
    ]
    for (name, member) in members where try hasBlocks || !name.hasPrefix("blocked") {
      #expect(try fault { $0[keyPath: member] = Self.nothing } != nil, "\(name)")
    }
  }

  @Test func idleProductKernelsAreDetected() throws {
    let members: [(String, WritableKeyPath<ck_product_kernels, ck_run?>)] = [
      ("gemm", \.gemm), ("gemv", \.gemv), ("pack_rows", \.pack_rows), ("blocked_convolution", \.blocked_convolution),
      ("winograd", \.winograd),
    ]
    for (name, member) in members where try hasBlocks || !["blocked_convolution", "winograd"].contains(name) {
      let table = try #require(Self.best).pointee
      for (type, products) in [table.products.0, table.products.1, table.products.2].enumerated() {
        guard products?.pointee[keyPath: member] != nil, var changed = products?.pointee else { continue }
        changed[keyPath: member] = Self.nothing
        let fault = try withUnsafePointer(to: changed) { changed in
          try self.fault { table in
            switch type {
            case 0: table.products.0 = changed
            case 1: table.products.1 = changed
            default: table.products.2 = changed
            }
          }
        }
        #expect(fault?.contains("rounded") == (type != 0), "\(name) \(type): \(fault ?? "no fault")")
      }
    }
  }

  @Test func idleIntegerKernelsAreDetected() throws {
    let members: [(String, WritableKeyPath<ck_integer_kernels, ck_run?>)] = [
      ("gemm", \.gemm), ("pack_rows", \.pack_rows), ("pack_columns", \.pack_columns), ("depthwise", \.depthwise),
      ("pool", \.pool), ("quantize", \.quantize), ("dequantize", \.dequantize), ("binary", \.binary),
      ("range", \.range), ("quantize_rows", \.quantize_rows),
      ("blocked_convolution", \.blocked_convolution), ("blocked_depthwise", \.blocked_depthwise),
      ("blocked_pool", \.blocked_pool),
    ]
    let integers = try #require(Self.best?.pointee.integer)
    for (name, member) in members where integers.pointee[keyPath: member] != nil {
      var changed = integers.pointee
      changed[keyPath: member] = Self.nothing
      let fault = try withUnsafePointer(to: changed) { changed in try self.fault { $0.integer = changed } }
      #expect(fault != nil, "\(name)")
    }
  }

  @Test func idleElementwiseFunctionsAreDetected() throws {
    let functions = try #require(Self.best).pointee.maps
    let count = MemoryLayout.size(ofValue: functions) / MemoryLayout<ck_map?>.stride
    let nothing: ck_map = { _, _, _, _, _ in }
    for function in 0..<count {
      let original = withUnsafeBytes(of: functions) { $0.load(fromByteOffset: 8 * function, as: ck_map?.self) }
      guard original != nil else { continue }
      let fault = try fault { table in
        withUnsafeMutableBytes(of: &table.maps) {
          $0.storeBytes(of: nothing, toByteOffset: 8 * function, as: ck_map.self)
        }
      }
      #expect(fault != nil, "function \(function)")
    }
  }

  private var hasBlocks: Bool {
    get throws { try #require(Self.best).pointee.lanes >= 8 }
  }
}
