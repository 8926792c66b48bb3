import KelvinGraph

/// How a kernel reads a buffer: the element of the texel buffer.
enum TexelFormat: Hashable, Sendable {
  case float, float4, half, half4, byte, short, uint, uint2

  var byteCount: Int {
    switch self {
    case .byte: 1
    case .half, .short: 2
    case .float, .uint: 4
    case .half4, .uint2: 8
    case .float4: 16
    }
  }
}

/// Memory that a kernel reads or writes, before it is known where it lies.
struct Region: Hashable, Sendable {
  enum Place: Hashable, Sendable {
    /// The segment's input, output, the executable's weight or scratch value of that index.
    case input(Int)
    case output(Int)
    case weight(Int)
    case scratch(Int)
  }

  var place: Place
  var byteCount: Int
}

struct Operand: Hashable, Sendable {
  var region: Region
  var format: TexelFormat
}

/// One dispatch: a pipeline, its parameters, the size of its grid and what it reads and writes.
struct Step: Sendable {
  var pipeline: PipelineKey
  var parameters: [UInt32]
  /// Groups along x, y and z.
  var groups: [Int]
  var reads: [Operand]
  var write: Region
  /// The node of the compiled graph that it works for.
  var node: Int
}

/// Push constants, in the order that a shader declares them.
struct Parameters {
  private(set) var words: [UInt32] = []

  mutating func add(_ values: Int...) { add(values) }
  mutating func add(_ values: [Int]) { words += values.map { UInt32(bitPattern: Int32(clamping: $0)) } }
  mutating func add(_ values: Float...) { words += values.map(\.bitPattern) }
  mutating func add(words values: UInt32...) { words += values }

  /// The reciprocals by which shaders divide.
  mutating func addInverses(_ values: Int...) { words += values.map { (1 / Float(max($0, 1))).bitPattern } }
}

/// How a value lies in memory inside a segment; see `Element` for its elements.
enum Layout: Hashable, Sendable {
  /// Row-major.
  case dense
  /// `[N, ceil(C / 4), area, 4]`, the channels beyond C zero: for tensors of floats of two or more dimensions
  /// `[N, C, …]`.
  case blocked
}

/// The sizes of a tensor `[N, C, …]` in the blocked layout.
struct BlockedShape: Hashable, Sendable {
  var batch, channels, area: Int

  init(_ shape: Shape) {
    batch = shape.rank > 0 ? shape[0] : 1
    channels = shape.rank > 1 ? shape[1] : 1
    area = shape.dimensions.dropFirst(2).reduce(1, *)
  }

  var blocks: Int { (channels + 3) / 4 }
  /// Groups of four elements.
  var count: Int { batch * blocks * area }
  /// Whether the dense layout is the same.
  var isDense: Bool { area == 1 && channels % 4 == 0 }
}
