import CKelvinImages

/// The bilinear samples of an image of luma and chroma, one target row at a time.
struct ChromaSampling {
  /// A source row, converted and interpolated at the target columns.
  private struct Line {
    var row: Int?
    var values: [Int32]
  }

  private struct Columns {
    var reader: ChromaReader
    var origin: Int
    var taps: [kelvin_chroma_tap]
    var weights: [Int16]

    func read(_ row: Int, into line: inout Line) {
      guard line.row != row else { return }
      let place = reader.place(of: origin + row)
      kelvin_chroma_line(
        reader.luma + place.luma, reader.chroma + place.chroma, reader.matrix, taps, weights, taps.count, &line.values)
      line.row = row
    }
  }

  private let columns: Columns
  private var near: Line
  private var far: Line
  /// The red, then the green, then the blue samples of the row.
  private(set) var samples: [UInt8]

  /// - Parameters:
  ///   - origin: The offset from which those of the columns and the rows count.
  ///   - columns: The target columns.
  init(_ reader: ChromaReader, origin: Int, columns: UnsafeBufferPointer<Tap>) {
    let first = reader.place(of: origin)
    let taps = columns.map { column in
      let (near, far) = (reader.place(of: origin + column.near), reader.place(of: origin + column.far))
      return kelvin_chroma_tap(
        luma_near: near.luma - first.luma, luma_far: far.luma - first.luma, chroma_near: near.chroma - first.chroma,
        chroma_far: far.chroma - first.chroma)
    }
    self.columns = Columns(reader: reader, origin: origin, taps: taps, weights: columns.map { Int16($0.weight) })
    near = Line(row: nil, values: [Int32](repeating: 0, count: 3 * columns.count))
    far = near
    samples = [UInt8](repeating: 0, count: 3 * columns.count)
  }

  /// Computes ``samples`` for a target row.
  mutating func read(_ row: Tap) {
    // Successive target rows share a source row where the image is enlarged.
    if far.row == row.near { swap(&near, &far) }
    columns.read(row.near, into: &near)
    columns.read(row.far, into: &far)
    kelvin_chroma_between(near.values, far.values, Int16(row.weight), 3 * columns.taps.count, &samples)
  }
}
