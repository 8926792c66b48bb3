package import KelvinDevices
internal import KelvinGraph

/// A constant quantized weight in the layout of kernels that unpack weights (`Shaders/codes.glsl`,
/// `Shaders/opencl/convolution.cl`).
///
/// The operand consists of 32-bit words. The codes come first, the first code in the lowest bits, followed by `spare`
/// zeros. Rows follow: a word for each output, and a row for `rowChannels` input channels. A word is the scale of its
/// codes (its bits), or the index of the word at which its table begins. If codes have zero points or biases, as many
/// words of these follow. The tables are last, as float32, so that an entry of every code exists.
package struct QuantizedOperand: Sendable {
  package let storage: Storage
  /// Bits of a code: 1, 2, 4 or 8.
  package let bits: Int
  /// How kernels turn a code into a number: 0 for a scale and a shared zero point, 1 for a scale and a zero point, 2
  /// for a scale and a bias, 3 for a table.
  package let meaning: Int
  /// The zero point that all codes share.
  package let zero: Float
  /// The index of the word at which rows begin.
  package let rowStart: Int
  /// Words in all rows.
  package let rowWords: Int
  /// Rows of a tile.
  package let rows: Int
  /// Input channels of a row.
  package let rowChannels: Int
  /// The index of the last word at which a table may begin. Kernels clamp to it, because they read the beginnings of
  /// tables from memory.
  package let lastTable: Int
}

/// The layout of the codes and rows of a weight `[groups * outputs, channels, taps]`.
struct QuantizedLayout {
  /// The name of the layout, part of the weight's key.
  let key: String
  let groups: Int
  /// Outputs of one group.
  let outputs: Int
  /// Input channels of one group.
  let channels: Int
  let taps: Int
  /// Contiguous outputs in a row; the last tile of a group may be padded.
  let tile: Int
  /// Codes of a tile.
  let elementsPerTile: Int
  let spare: Int
  /// Returns the index of a code in its tile.
  let place: (_ output: Int, _ channel: Int, _ tap: Int) -> Int

  var parts: Int { (outputs + tile - 1) / tile }
}

extension Lowering {
  /// Returns a constant input as codes if its encoding allows and kernels can unpack it: only outputs and inputs may be
  /// divided into blocks, inputs in whole vectors of four.
  private func blockQuantizedWeight(_ input: Int) throws(DeviceError) -> (name: String, weight: BlockQuantizedWeight)? {
    guard target.unpacksWeights else { return nil }
    let (name, weight) = try constantWeight(input)
    guard let blockQuantized = weight.blockQuantized,
      blockQuantized.blocks.dimensions.dropFirst(2).allSatisfy({ $0 == 1 }),
      blockQuantized.blocks[1] == 1 || blockQuantized.type.shape[1] / blockQuantized.blocks[1] % 4 == 0
    else { return nil }
    return (name, blockQuantized)
  }

  /// Returns the node's weights in the layout of `tiledWeights`, but quantized; nil if they must be expanded.
  package func tiledQuantizedWeight(
    groups: Int, outputs: Int, channels: Int, taps: Int, tile: Int, rows: Int, spare: Int
  ) throws(DeviceError) -> QuantizedOperand? {
    try blockQuantized(
      QuantizedLayout(
        key: "tiles-\(tile)x\(groups)-\(rows)", groups: groups, outputs: outputs, channels: channels, taps: taps,
        tile: tile, elementsPerTile: taps * rows * tile, spare: spare,
        place: { output, channel, tap in (tap * rows + channel) * tile + output }))
  }

  /// Returns the node's weights `[columns, depth]` as `[vector of depth][column][4 of depth]`, quantized; nil if they
  /// must be expanded.
  package func rowQuantizedWeight(columns: Int, depth: Int) throws(DeviceError) -> QuantizedOperand? {
    try blockQuantized(
      QuantizedLayout(
        key: "rows", groups: 1, outputs: columns, channels: depth, taps: 1, tile: columns,
        elementsPerTile: (depth + 3) / 4 * 4 * columns, spare: 0,
        place: { column, k, _ in (k / 4 * columns + column) * 4 + k % 4 }))
  }

  /// Returns the slices along the first axis of the node's first input, contiguous and quantized. Nil if they must be
  /// expanded; weights with biases must, because some devices round their sums twice.
  package func sliceQuantizedWeight() throws(DeviceError) -> QuantizedOperand? {
    let shape = type(node.inputs[0]).shape
    if case .biased = try blockQuantizedWeight(0)?.weight.meaning { return nil }
    let taps = shape.dimensions.dropFirst(2).reduce(1, *)
    return try blockQuantized(
      QuantizedLayout(
        key: "slices", groups: 1, outputs: shape[0], channels: shape[1], taps: taps, tile: 1,
        elementsPerTile: shape[1] * taps, spare: 0, place: { _, channel, tap in channel * taps + tap }), of: 0)
  }

  private func blockQuantized(_ layout: QuantizedLayout, of input: Int = 1) throws(DeviceError) -> QuantizedOperand? {
    guard let (name, weight) = try blockQuantizedWeight(input) else { return nil }
    let (bits, inputBlocks) = (weight.bits, weight.blocks[1])
    let tiles = layout.groups * layout.parts
    let rowStart = (tiles * layout.elementsPerTile * bits + 31) / 32 + layout.spare
    let rowWords = tiles * inputBlocks * layout.tile
    let meaning: Int
    var (zero, extra): (Float, Int) = (0, 0)
    switch weight.meaning {
    case .multiples(_, let shared): (meaning, zero) = (0, shared)
    case .shifted: (meaning, extra) = (1, rowWords)
    case .biased: (meaning, extra) = (2, rowWords)
    case .entries(let tables, let length): (meaning, extra) = (3, tables.type.count + max(0, 1 << bits - length))
    }
    let storage = self.weight("\(name)/gpu-codes-\(layout.key)", count: rowStart + rowWords + extra) { target in
      weight.write(layout, to: UnsafeMutableRawBufferPointer(target))
      weight.writeRows(layout, to: target, from: rowStart, count: rowWords)
    }
    return QuantizedOperand(
      storage: storage, bits: bits, meaning: meaning, zero: zero, rowStart: rowStart, rowWords: rowWords,
      rows: inputBlocks, rowChannels: inputBlocks == 1 ? layout.channels : layout.channels / inputBlocks,
      lastTable: meaning == 3 ? rowStart + rowWords + extra - 1 << bits : 0)
  }
}

extension BlockQuantizedWeight {
  /// Writes the codes into zeroed bytes.
  fileprivate func write(_ layout: QuantizedLayout, to bytes: UnsafeMutableRawBufferPointer) {
    let (channels, taps, perByte) = (layout.channels, layout.taps, 8 / bits)
    codes().withUnsafeBufferPointer { codes in
      for output in 0..<layout.groups * layout.outputs {
        let (group, own) = output.quotientAndRemainder(dividingBy: layout.outputs)
        let start = (group * layout.parts + own / layout.tile) * layout.elementsPerTile
        for channel in 0..<channels {
          for tap in 0..<taps {
            let place = start + layout.place(own % layout.tile, channel, tap)
            let code = codes[(output * channels + channel) * taps + tap]
            bytes[place / perByte] |= code << UInt8(place % perByte * bits)
          }
        }
      }
    }
  }

  /// Writes the rows, zero points or biases, and tables. Outputs that pad a tile repeat the group's last output.
  fileprivate func writeRows(
    _ layout: QuantizedLayout, to words: UnsafeMutableBufferPointer<Float>, from start: Int, count: Int
  ) {
    let (inputBlocks, perBlock) = (blocks[1], type.shape[0] / blocks[0])
    func fill(from start: Int, _ word: (_ block: Int) -> Float) {
      for tile in 0..<layout.groups * layout.parts {
        let (group, part) = tile.quotientAndRemainder(dividingBy: layout.parts)
        for output in 0..<layout.tile {
          let own = min(part * layout.tile + output, layout.outputs - 1)
          let first = (group * layout.outputs + own) / perBlock * inputBlocks
          for row in 0..<inputBlocks {
            words[start + (tile * inputBlocks + row) * layout.tile + output] = word(first + row)
          }
        }
      }
    }
    switch meaning {
    case .multiples(let scales, _):
      let scales = scales.floats()
      fill(from: start) { scales[$0] }
    case .shifted(let scales, let offsets):
      let (scales, zeros) = (scales.floats(), zeros(of: offsets))
      fill(from: start) { scales[$0] }
      fill(from: start + count) { zeros[$0] }
    case .biased(let scales, let biases):
      let (scales, biases) = (scales.floats(), biases.floats())
      fill(from: start) { scales[$0] }
      fill(from: start + count) { biases[$0] }
    case .entries(let tables, let length):
      let first = start + count
      fill(from: start) { Float(bitPattern: UInt32(first + $0 * length)) }
      for (index, entry) in tables.floats().enumerated() { words[first + index] = entry }
    }
  }
}
