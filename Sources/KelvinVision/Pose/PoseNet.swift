import Glibc
import KelvinBasics

/// The output maps of PoseNet for an image, and the decoding of poses from them. Reference: Papandreou et al.,
/// "PersonLab: Person Pose Estimation and Instance Segmentation with a Bottom-Up, Part-Based, Geometric Embedding
/// Model", 2018, sections 3.1 and 3.2.
struct PoseNet {
  typealias JointName = HumanBodyPoseObservation.JointName

  /// The joints in the order of the heat map's channels.
  static let joints: [JointName] = Array(JointName.allCases.prefix(17))

  /// The edges in the order of the displacement maps' channels. The child is farther from the nose than the parent.
  static let edges: [(parent: Int, child: Int)] =
    [
      (.nose, .leftEye), (.leftEye, .leftEar), (.nose, .rightEye), (.rightEye, .rightEar), (.nose, .leftShoulder),
      (.leftShoulder, .leftElbow), (.leftElbow, .leftWrist), (.leftShoulder, .leftHip), (.leftHip, .leftKnee),
      (.leftKnee, .leftAnkle), (.nose, .rightShoulder), (.rightShoulder, .rightElbow), (.rightElbow, .rightWrist),
      (.rightShoulder, .rightHip), (.rightHip, .rightKnee), (.rightKnee, .rightAnkle),
    ].map { (edge: (JointName, JointName)) in
      (joints.firstIndex(of: edge.0) ?? 0, joints.firstIndex(of: edge.1) ?? 0)
    }

  /// A strided map with one number for each channel and cell.
  struct Map {
    var values: [Float]
    var channelStride: Int
    var rowStride: Int
    var columnStride: Int

    subscript(channel: Int, cell: Cell) -> Double {
      Double(values[channel * channelStride + cell.row * rowStride + cell.column * columnStride])
    }
  }

  struct Cell: Hashable {
    var row: Int
    var column: Int
  }

  /// The position of a joint in pixels of the model's input.
  struct Point: Hashable {
    var x: Double
    var y: Double
    var score: Double

    func isWithin(_ radius: Double, of other: Point) -> Bool {
      (x - other.x) * (x - other.x) + (y - other.y) * (y - other.y) <= radius * radius
    }
  }

  struct Pose: Hashable {
    /// The points in the order of `joints`.
    var points: [Point]
    var score: Double
  }

  private let rows: Int
  private let columns: Int
  private let stride: Double
  /// The scores in 0…1, by joint, row and column.
  private let scores: [Double]
  /// The offsets from a cell's corner to the joint. The y channels of all joints precede the x channels.
  private let offsets: Map
  /// The displacements to each edge's child and to its parent. The y channels of all edges precede the x channels. Nil
  /// where the model has no displacements.
  private let displacements: (forward: Map, backward: Map)?

  /// Creates a decoder.
  ///
  /// - Parameters:
  ///   - stride: The distance between neighbouring cells in pixels of the input.
  ///   - areLogits: Whether `heatmap` holds logits, to which the logistic function is applied.
  init(
    rows: Int, columns: Int, stride: Int, heatmap: Map, areLogits: Bool, offsets: Map,
    displacements: (forward: Map, backward: Map)?
  ) {
    self.rows = rows
    self.columns = columns
    self.stride = Double(stride)
    self.offsets = offsets
    self.displacements = displacements
    scores = (0..<Self.joints.count).flatMap { joint in
      (0..<rows * columns).map { index in
        let score = heatmap[joint, Cell(row: index / columns, column: index % columns)]
        // NaN counts as score 0.
        return score.isNaN ? 0 : areLogits ? logistic(score) : score
      }
    }
  }

  private func score(_ joint: Int, _ cell: Cell) -> Double { scores[(joint * rows + cell.row) * columns + cell.column] }

  /// Returns the position of a joint according to a cell's offset.
  private func point(_ joint: Int, _ cell: Cell) -> (x: Double, y: Double) {
    (
      Double(cell.column) * stride + offsets[joint + Self.joints.count, cell],
      Double(cell.row) * stride + offsets[joint, cell]
    )
  }

  /// Returns the cell nearest to a position in the input.
  private func cell(x: Double, y: Double) -> Cell {
    func nearest(_ place: Double, _ count: Int) -> Int {
      let cell = (place / stride + 0.5).rounded(.down)
      return cell > 0 ? Int(min(cell, Double(count - 1))) : 0
    }
    return Cell(row: nearest(y, rows), column: nearest(x, columns))
  }

  /// Returns one pose, with each joint at the position of its largest score.
  func single() -> Pose {
    let points = Self.joints.indices.map { joint in
      var (best, largest) = (Cell(row: 0, column: 0), -Double.infinity)
      for row in 0..<rows {
        for column in 0..<columns where score(joint, Cell(row: row, column: column)) > largest {
          best = Cell(row: row, column: column)
          largest = score(joint, best)
        }
      }
      let place = point(joint, best)
      return Point(x: place.x, y: place.y, score: largest)
    }
    return Pose(points: points, score: points.reduce(0) { $0 + $1.score } / Double(points.count))
  }

  /// Returns several poses, each grown from one of the highest-scoring joints. Without displacements a pose consists of
  /// its first joint alone.
  ///
  /// - Parameters:
  ///   - count: The largest number of poses.
  ///   - least: The smallest score of a joint from which a pose is grown.
  ///   - radius: Joints of the same name within this distance, in pixels of the input, belong to the same body.
  func multiple(_ count: Int, from least: Double, radius: Double) -> [Pose] {
    var poses: [Pose] = []
    for root in roots(from: least) {
      guard poses.count < count else { break }
      let place = point(root.joint, root.cell)
      let start = Point(x: place.x, y: place.y, score: score(root.joint, root.cell))
      guard !poses.contains(where: { $0.points[root.joint].isWithin(radius, of: start) }) else { continue }
      let points = grown(from: start, root.joint)
      // Joints within the radius of another body's joints do not count for the pose's score.
      let own = points.indices.filter { joint in
        !poses.contains { $0.points[joint].isWithin(radius, of: points[joint]) }
      }
      poses.append(Pose(points: points, score: own.reduce(0) { $0 + points[$1].score } / Double(points.count)))
    }
    return poses
  }

  /// Returns the joints whose score is a local maximum, in descending order of scores. Of equal scores the upper left
  /// joint comes first.
  private func roots(from least: Double) -> [(joint: Int, cell: Cell)] {
    var found: [(joint: Int, cell: Cell, score: Double)] = []
    for row in 0..<rows {
      for column in 0..<columns {
        for joint in Self.joints.indices {
          let cell = Cell(row: row, column: column)
          let own = score(joint, cell)
          guard own >= least, isLargest(own, joint, cell) else { continue }
          found.append((joint, cell, own))
        }
      }
    }
    return found.enumerated().sorted { ($1.element.score, $0.offset) < ($0.element.score, $1.offset) }
      .map { ($0.element.joint, $0.element.cell) }
  }

  private func isLargest(_ own: Double, _ joint: Int, _ cell: Cell) -> Bool {
    for row in max(cell.row - 1, 0)...min(cell.row + 1, rows - 1) {
      for column in max(cell.column - 1, 0)...min(cell.column + 1, columns - 1)
      where score(joint, Cell(row: row, column: column)) > own {
        return false
      }
    }
    return true
  }

  /// Returns the joints of the body that contains a joint: first along the edges towards the nose, then away from it.
  private func grown(from start: Point, _ root: Int) -> [Point] {
    var points = [Point?](repeating: nil, count: Self.joints.count)
    points[root] = start
    guard let displacements else { return points.map { $0 ?? Point(x: 0, y: 0, score: 0) } }
    for (index, edge) in Self.edges.enumerated().reversed() where points[edge.parent] == nil {
      guard let child = points[edge.child] else { continue }
      points[edge.parent] = next(from: child, to: edge.parent, along: index, displacements.backward)
    }
    for (index, edge) in Self.edges.enumerated() where points[edge.child] == nil {
      guard let parent = points[edge.parent] else { continue }
      points[edge.child] = next(from: parent, to: edge.child, along: index, displacements.forward)
    }
    return points.map { $0 ?? Point(x: 0, y: 0, score: 0) }
  }

  /// The number of times that a position is refined by the offsets of its nearest cell.
  private static let refinements = 2

  private func next(from source: Point, to joint: Int, along edge: Int, _ map: Map) -> Point {
    let start = cell(x: source.x, y: source.y)
    var place = (x: source.x + map[edge + Self.edges.count, start], y: source.y + map[edge, start])
    for _ in 0..<Self.refinements { place = point(joint, cell(x: place.x, y: place.y)) }
    return Point(x: place.x, y: place.y, score: score(joint, cell(x: place.x, y: place.y)))
  }
}
