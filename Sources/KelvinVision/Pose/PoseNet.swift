import Glibc
import KelvinBasics

/// The maps that PoseNet leaves of an image, and the poses in them (Papandreou et al., "PersonLab: Person Pose Estimation
/// and Instance Segmentation with a Bottom-Up, Part-Based, Geometric Embedding Model", 2018, sections 3.1 and 3.2).
struct PoseNet {
  typealias JointName = HumanBodyPoseObservation.JointName

  /// The channels of its scores, in their order.
  static let joints: [JointName] = Array(JointName.allCases.prefix(17))

  /// The channels of its displacements: from the first joint to the second, which is further from the nose.
  static let edges: [(parent: Int, child: Int)] =
    [
      (.nose, .leftEye), (.leftEye, .leftEar), (.nose, .rightEye), (.rightEye, .rightEar), (.nose, .leftShoulder),
      (.leftShoulder, .leftElbow), (.leftElbow, .leftWrist), (.leftShoulder, .leftHip), (.leftHip, .leftKnee),
      (.leftKnee, .leftAnkle), (.nose, .rightShoulder), (.rightShoulder, .rightElbow), (.rightElbow, .rightWrist),
      (.rightShoulder, .rightHip), (.rightHip, .rightKnee), (.rightKnee, .rightAnkle),
    ].map { (edge: (JointName, JointName)) in
      (joints.firstIndex(of: edge.0) ?? 0, joints.firstIndex(of: edge.1) ?? 0)
    }

  /// One number for each channel and cell.
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

  /// A joint in pixels of the model's input.
  struct Point: Hashable {
    var x: Double
    var y: Double
    var score: Double

    func isWithin(_ radius: Double, of other: Point) -> Bool {
      (x - other.x) * (x - other.x) + (y - other.y) * (y - other.y) <= radius * radius
    }
  }

  struct Pose: Hashable {
    /// In the order of `joints`.
    var points: [Point]
    var score: Double
  }

  private let rows: Int
  private let columns: Int
  private let stride: Double
  /// In 0…1, by joint, row and column.
  private let scores: [Double]
  /// From a cell's corner to the joint, y of all joints before x.
  private let offsets: Map
  /// To each edge's child and to its parent, y of all edges before x; nil where the model has none.
  private let displacements: (forward: Map, backward: Map)?

  /// - Parameters:
  ///   - stride: pixels of the input from one cell to the next.
  ///   - areLogits: whether scores are the logistic function of what `heatmap` holds.
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
        // What is not a number is no joint.
        return score.isNaN ? 0 : areLogits ? logistic(score) : score
      }
    }
  }

  private func score(_ joint: Int, _ cell: Cell) -> Double { scores[(joint * rows + cell.row) * columns + cell.column] }

  /// Where a joint lies that a cell knows of.
  private func point(_ joint: Int, _ cell: Cell) -> (x: Double, y: Double) {
    (
      Double(cell.column) * stride + offsets[joint + Self.joints.count, cell],
      Double(cell.row) * stride + offsets[joint, cell]
    )
  }

  /// The cell that is nearest to a place in the input.
  private func cell(x: Double, y: Double) -> Cell {
    func nearest(_ place: Double, _ count: Int) -> Int {
      let cell = (place / stride + 0.5).rounded(.down)
      return cell > 0 ? Int(min(cell, Double(count - 1))) : 0
    }
    return Cell(row: nearest(y, rows), column: nearest(x, columns))
  }

  /// The one pose whose every joint is where its score is largest.
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

  /// Poses that grow from the surest joints, one after the other; none where the model has no displacements.
  ///
  /// - Parameters:
  ///   - count: at most so many.
  ///   - least: the score from which on a joint may be where a pose starts.
  ///   - radius: joints of the same name that are no further apart, in pixels of the input, are of one body.
  func multiple(_ count: Int, from least: Double, radius: Double) -> [Pose] {
    var poses: [Pose] = []
    for root in roots(from: least) {
      guard poses.count < count else { break }
      let place = point(root.joint, root.cell)
      let start = Point(x: place.x, y: place.y, score: score(root.joint, root.cell))
      guard !poses.contains(where: { $0.points[root.joint].isWithin(radius, of: start) }) else { continue }
      let points = grown(from: start, root.joint)
      // Joints that another body has already do not speak for this one.
      let own = points.indices.filter { joint in
        !poses.contains { $0.points[joint].isWithin(radius, of: points[joint]) }
      }
      poses.append(Pose(points: points, score: own.reduce(0) { $0 + points[$1].score } / Double(points.count)))
    }
    return poses
  }

  /// Joints that are surer than all around them, the surest first; of equally sure ones the upper left one.
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

  /// The joints of the body that one joint is of: first towards the nose, then away from it.
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

  /// How often a place is looked up anew in the offsets around it.
  private static let refinements = 2

  private func next(from source: Point, to joint: Int, along edge: Int, _ map: Map) -> Point {
    let start = cell(x: source.x, y: source.y)
    var place = (x: source.x + map[edge + Self.edges.count, start], y: source.y + map[edge, start])
    for _ in 0..<Self.refinements { place = point(joint, cell(x: place.x, y: place.y)) }
    return Point(x: place.x, y: place.y, score: score(joint, cell(x: place.x, y: place.y)))
  }
}
