import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// A depthwise convolution in which no output depends on later positions: `[N, C, L]` by filters `[C, 1, k]`. A past
  /// state, or zeros, provides the k - 1 positions before the first. The second result is the state for the next call.
  static let causalConvWithState = ONNXMapper("CausalConvWithState") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    let (source, filter) = (c.emitter.shape(x), c.emitter.shape(weights))
    guard source.rank == 3, filter.rank == 3, filter[1] == 1, filter[2] > 0, filter[0] == source[1] else {
      throw c.emitter.invalid(
        "expected [N, C, L] and [C, 1, k], got \(c.emitter.type(x)) and \(c.emitter.type(weights))")
    }
    let activation = c.text("activation", default: "none")
    guard ["none", "silu", "swish"].contains(activation) else {
      throw c.unsupported("its activation is '\(activation)', expected none, silu or swish")
    }
    let past = filter[2] - 1
    let expected = TensorType(c.emitter.scalar(x), [source[0], source[1], past])
    let state = c.optional(3) ?? c.emitter.zeros(expected, step: "past")
    guard c.emitter.type(state) == expected else {
      throw c.emitter.invalid("its past state is \(c.emitter.type(state)), expected \(expected)")
    }
    let whole = past == 0 ? x : try c.emitter.concat([state, x], axis: 2, step: "whole")
    let isActivated = activation != "none"
    let result = try c.convolve(whole, weights, step: isActivated ? "convolved" : nil, groups: source[1])
    let output = isActivated ? try c.emitter.unary(.silu, result) : result
    guard past > 0 else { return [output, state] }
    let kept = [
      SliceRange(start: 0, count: source[0]), SliceRange(start: 0, count: source[1]),
      SliceRange(start: source[2], count: past),
    ]
    return [output, try c.emitter.slice(whole, kept, step: "present")]
  }
}
