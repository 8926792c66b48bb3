import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// A constant matrix `[columns, depth]` that stays codes of few bits, each column a row of the weight.
struct CodedColumns {
  private let input: Int
  private let weight: BlockQuantizedWeight
  /// The layout, without the records.
  private let form: ck_coded_columns

  /// Creates the columns; nil if kernels cannot unpack the weight's encoding, or if it would take more memory than
  /// float32: blocks that do not fill words, tables of more than 16 entries, and tables for fewer columns than a panel.
  init?(of input: Int, _ context: CPUContext) {
    let request = context.request
    guard context.variant.sgemm == nil, let weight = request.graph[request.node.inputs[input]].weight,
      weight.isBlockQuantized, weight.type.shape.rank == 2, weight.type.count > 0, let coded = weight.blockQuantized
    else { return nil }
    var form = ck_coded_columns()
    (form.columns, form.depth) = (weight.type.shape[0], weight.type.shape[1])
    form.block = form.depth / coded.blocks[1]
    form.bits = max(2, coded.bits)
    switch coded.meaning {
    case .multiples(_, let zero): (form.kind, form.zero) = (ck_codes_scaled, zero)
    case .shifted: (form.kind, form.has_zeros) = (ck_codes_scaled, true)
    case .biased: form.kind = ck_codes_biased
    case .entries:
      guard coded.bits <= 4, context.variant.kernels.lanes >= 8,
        coded.blocks[0] == 1 || form.columns / coded.blocks[0] % Int(ck_gemm_panel) == 0
      else { return nil }
      (form.kind, form.bits) = (ck_codes_entries, 4)
    }
    guard coded.blocks[1] == 1 || form.block * form.bits % 32 == 0,
      ck_coded_byte_count(&form) < 4 * ck_packed_columns_count(form.columns, form.depth, ck_operands_float32)
    else { return nil }
    (self.input, self.weight, self.form) = (input, coded, form)
  }

  var columns: Int { form.columns }
  var depth: Int { form.depth }
  /// Whether numbers are `scale · code + bias`, whose rounding depends on the instruction set.
  var isBiased: Bool { form.kind == ck_codes_biased }

  var byteCount: Int {
    var form = form
    return ck_coded_byte_count(&form)
  }

  /// Returns the columns whose records are a pack of the node.
  func at(_ records: UnsafeRawPointer) -> ck_coded_columns {
    var form = form
    form.records = records
    return form
  }

  func pack() -> CPUPack {
    CPUPack(
      inputs: [input], layout: "\(PackedLayout.codes)-k\(ck_gemm_panel)", byteCount: byteCount,
      content: .encoded(write))
  }

  private func write(to target: UnsafeMutableRawBufferPointer) {
    let (reader, panel) = (weight.codeReader(), Int(ck_gemm_panel))
    let (first, second) = weight.meaning.parameters(of: weight)
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: panel * depth) { codes in
      first.withUnsafeBufferPointer { first in
        second.withUnsafeBufferPointer { second in
          guard let codes = codes.baseAddress else { return }
          var form = form
          var parameters = ck_code_parameters(
            first: first.baseAddress, second: second.isEmpty ? nil : second.baseAddress,
            run: columns / weight.blocks[0], length: first.count / weight.blocks.count)
          for start in stride(from: 0, to: columns, by: panel) {
            reader.read(start * depth..<min(start + panel, columns) * depth, to: codes)
            ck_pack_coded_panel(&form, start / panel, codes, &parameters, target.baseAddress)
          }
        }
      }
    }
  }
}

extension BlockQuantizedWeight.Meaning {
  /// Returns the scales or tables of each block, and its zero point or bias; empty if there are none.
  fileprivate func parameters(of weight: BlockQuantizedWeight) -> (first: [Float], second: [Float]) {
    switch self {
    case .multiples(let scales, _): (scales.dense().floats, [])
    case .shifted(let scales, let offsets): (scales.dense().floats, weight.zeros(of: offsets))
    case .biased(let scales, let biases): (scales.dense().floats, biases.dense().floats)
    case .entries(let tables, _): (tables.dense().floats, [])
    }
  }
}
