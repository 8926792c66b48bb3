internal import KelvinDevices
internal import KelvinGraph

/// Elements of one tensor copied to places of another, both given by strides.
struct StridedCopy: Hashable, Sendable {
  struct Axis: Hashable, Sendable {
    var size: Int
    var source: Int
    var target: Int
  }
  /// Outermost first; neighbours that walk both tensors alike are one axis.
  private(set) var axes: [Axis] = []
  var sourceOffset = 0
  var targetOffset = 0

  /// How many axes the kernel takes, the row included.
  static let maximumRank = 8

  init(contiguous count: Int) { axes = [Axis(size: count, source: 1, target: 1)] }

  init(sizes: [Int], source: [Int], target: [Int], sourceOffset: Int = 0, targetOffset: Int = 0) {
    self.sourceOffset = sourceOffset
    self.targetOffset = targetOffset
    for index in sizes.indices where sizes[index] != 1 {
      let axis = Axis(size: sizes[index], source: source[index], target: target[index])
      if let last = axes.last, last.source == axis.source * axis.size, last.target == axis.target * axis.size {
        axes[axes.count - 1] = Axis(size: last.size * axis.size, source: axis.source, target: axis.target)
      } else {
        axes.append(axis)
      }
    }
    if axes.isEmpty { axes = [Axis(size: 1, source: 1, target: 1)] }
  }
}

extension Lowering {
  /// - Precondition: the copy has at most `StridedCopy.maximumRank` axes.
  mutating func copy(_ copy: StridedCopy, from source: Int, to target: Int, elementByteCount: Int) {
    let outer = copy.axes.dropLast()
    precondition(outer.count < StridedCopy.maximumRank)
    let row = copy.axes[copy.axes.count - 1]
    let rowCount = outer.reduce(1) { $0 * $1.size }
    let missing = StridedCopy.maximumRank - 1 - outer.count
    func list(_ value: (StridedCopy.Axis) -> Int, filler: Int) -> [Constant] {
      (Array(repeating: filler, count: missing) + outer.map(value)).map { .int($0) }
    }
    let rows = max(tuning.run / max(row.size, 1), 1)
    let run = min(max(tuning.run, 1), max(row.size, 1))
    let constants: [Constant] =
      [
        .int(rowCount), .int(row.size), .int(rows), .int(run), .int(copy.sourceOffset), .int(copy.targetOffset),
        .int(row.source), .int(row.target),
      ] + list(\.size, filler: 1) + list(\.source, filler: 0) + list(\.target, filler: 0)
    self.run(
      KernelName(program: "copy", defines: ["ELEMENT=\(elementName(elementByteCount))"], function: "copy"),
      [source, target], constants,
      global: [(rowCount + rows - 1) / rows, (row.size + run - 1) / run])
  }

  /// The OpenCL type that moves elements of a size.
  func elementName(_ byteCount: Int) -> String {
    switch byteCount {
    case 1: "uchar"
    case 2: "ushort"
    case 4: "uint"
    default: "ulong"
    }
  }
}
