internal import Dispatch
package import KelvinDevices
package import KelvinGraph

/// Weights in tiles, biases and epilogues, which the kernels of convolutions and products share.
extension Lowering {
  /// Returns the memory of the node's last input if the epilogue adds a residual.
  package func residual(_ epilogue: Epilogue, _ layout: ValueLayout) throws(DeviceError) -> Storage? {
    guard epilogue.addsResidual, let id = node.inputs.last else { return nil }
    return try read(id, layout)
  }

  /// Returns the node's weights `[groups * outputs, channels, taps]` as `[group][tile of outputs][tap][channel][output
  /// in tile]`. A weight that is used in several shapes is packed for each of them.
  ///
  /// - Parameters:
  ///   - outputs: outputs of one group.
  ///   - channels: input channels of one group.
  ///   - rows: channels stored for one group.
  ///   - parts: tiles of one group.
  ///   - spare: numbers after the last tile.
  package func tiledWeights(
    groups: Int, outputs: Int, channels: Int, taps: Int, tile: Int, rows: Int, parts: Int, spare: Int
  ) throws(DeviceError) -> Storage {
    let weight = try constantWeight(1)
    let partCount = taps * rows * tile
    return packed(
      weight.weight, "\(weight.name)/gpu-tiles-\(tile)x\(groups)-\(channels)x\(taps)-\(rows)",
      count: groups * parts * partCount + spare
    ) { target in
      weight.weight.withFloats { source in
        nonisolated(unsafe) let (source, target) = (source, target)
        // One thread writes each tile.
        DispatchQueue.concurrentPerform(iterations: groups * parts) { place in
          let (group, part) = place.quotientAndRemainder(dividingBy: parts)
          for output in part * tile..<min((part + 1) * tile, outputs) {
            let row = (group * outputs + output) * channels * taps
            let start = place * partCount + output % tile
            for channel in 0..<channels {
              for tap in 0..<taps { target[start + (tap * rows + channel) * tile] = source[row + channel * taps + tap] }
            }
          }
        }
      }
    }
  }

  /// Returns the node's weights `[outputs, channels, 3, 3]` at Winograd's points, as `[point][tile of
  /// outputs][channel][output in tile]`. They are float32, because a narrower type might not hold them.
  ///
  /// - Parameters:
  ///   - transform: the tile that determines the points.
  ///   - tile: outputs in a tile of weights.
  ///   - rows: channels stored.
  ///   - parts: tiles of one point.
  ///   - spare: numbers after the last tile.
  package func winogradWeights(
    _ transform: WinogradTile, outputs: Int, channels: Int, tile: Int, rows: Int, parts: Int, spare: Int
  ) throws(DeviceError) -> Storage {
    let weight = try constantWeight(1)
    let partCount = rows * tile
    return self.weight(
      "\(weight.name)/gpu-\(transform.implementation)-\(tile)-\(rows)",
      count: transform.points * parts * partCount + spare
    ) { target in
      weight.weight.withFloats { source in
        guard let filter = source.baseAddress, let place = target.baseAddress else { return }
        nonisolated(unsafe) let (source, target) = (filter, place)
        // One thread writes each tile, one cache line after another.
        DispatchQueue.concurrentPerform(iterations: parts) { part in
          for channel in 0..<channels {
            let start = target + part * partCount + channel * tile
            for output in part * tile..<min((part + 1) * tile, outputs) {
              transform.transform(
                source + (output * channels + channel) * 9, to: start + output % tile, step: parts * partCount)
            }
          }
        }
      }
    }
  }

  /// Returns the node's weights, one filter for each channel, as `[block][tap][lane]`.
  package func depthwiseWeights(channels: Int, taps: Int) throws(DeviceError) -> Storage {
    let (weight, lanes) = (try constantWeight(1), target.lanes)
    let blocks = (channels + lanes - 1) / lanes
    return packed(
      weight.weight, "\(weight.name)/gpu-depthwise-\(lanes)", count: blocks * taps * lanes
    ) { target in
      let source = weight.weight.floats()
      for channel in 0..<channels {
        let start = channel / lanes * taps * lanes + channel % lanes
        for tap in 0..<taps { target[start + tap * lanes] = source[channel * taps + tap] }
      }
    }
  }

  /// Returns the node's weights `[inputs, outputs, taps]` of a transposed convolution as `[phase][tile of outputs][tap
  /// of the phase][input][output in tile]`, with room for the largest number of taps of a phase.
  ///
  /// - Parameters:
  ///   - rows: inputs stored.
  ///   - parts: tiles of one phase.
  ///   - spare: numbers after the last tile.
  package func phasedWeights(
    _ phases: TransposedPhases, outputs: Int, inputs: Int, tile: Int, rows: Int, parts: Int, spare: Int
  ) throws(DeviceError) -> Storage {
    let weight = try constantWeight(1)
    let partCount = phases.taps * rows * tile
    let strides = phases.strides.map(String.init).joined(separator: "x")
    return packed(
      weight.weight, "\(weight.name)/gpu-phases-\(strides)-\(tile)-\(rows)",
      count: phases.count * parts * partCount + spare
    ) { target in
      let (source, taps) = (weight.weight.floats(), phases.kernel[0] * phases.kernel[1])
      for tap in 0..<taps {
        let (phase, own) = phases.place(ofTap: tap)
        for output in 0..<outputs {
          let start = (phase * parts + output / tile) * partCount + own * rows * tile + output % tile
          for input in 0..<inputs {
            target[start + input * tile] = source[(input * outputs + output) * taps + tap]
          }
        }
      }
    }
  }

  /// Returns one of the node's inputs, which must be constant.
  ///
  /// - Throws: `.unsupported` if it is not.
  package func constantWeight(_ input: Int) throws(DeviceError) -> (name: String, weight: Weight) {
    let value = graph[node.inputs[input]]
    guard let weight = value.weight else { throw error(.unsupported, "'\(value.name)' is not constant") }
    return (value.name, weight)
  }
}
