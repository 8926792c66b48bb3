package import KelvinDevices
package import KelvinGraph

/// Dense tensors that kernels access in parts: contiguous runs of a larger tensor, which are read or written in place,
/// and tensors larger than a kernel can address, which are moved piece by piece.
extension Lowering {
  /// Makes a run of a value's elements available as another value. The elements are moved if the run does not begin at
  /// an offset that kernels can be bound to.
  ///
  /// - Parameter start: the first element of the run.
  package func view(_ input: ValueID, from start: Int, as output: ValueID) throws(DeviceError) {
    let (source, type) = (try read(input, .dense), type(output))
    let size = target.byteCount(type.scalar)
    if start * size % bufferAlignment == 0 {
      place(output, .dense, source.part(at: start * size, byteCount: type.count * size))
    } else {
      move(type, from: source, start, to: write(output, .dense))
    }
  }

  /// Joins values into one contiguous value. Values that were already written into the join are not moved.
  ///
  /// - Parameter layout: the layout of the values and of the join.
  package func join(_ inputs: [ValueID], as output: ValueID, _ layout: ValueLayout = .dense) throws(DeviceError) {
    let whole = write(output, layout)
    var start = 0
    for input in inputs {
      let (storage, type) = (try read(input, layout), type(input))
      let stored = TensorType(type.scalar, [layout.count(of: type.shape)])
      if storage.place != whole.place || storage.offset != whole.offset + start * target.byteCount(type.scalar) {
        move(stored, from: storage, to: whole, start)
      }
      start += stored.count
    }
  }

  /// Copies a dense tensor.
  ///
  /// - Parameters:
  ///   - start: the offset in `source`, in elements.
  ///   - end: the offset in `destination`, in elements.
  func move(_ type: TensorType, from source: Storage, _ start: Int = 0, to destination: Storage, _ end: Int = 0) {
    let size = target.byteCount(type.scalar)
    let unit = bufferAlignment / size
    /// Returns the memory of a piece from an offset that kernels can be bound to, and the number of elements before the
    /// piece.
    func window(_ storage: Storage, _ first: Int, _ count: Int) -> (Storage, Int) {
      let skipped = first % unit
      return (storage.part(at: (first - skipped) * size, byteCount: (skipped + count) * size), skipped)
    }
    for piece in pieces(of: type, spare: unit) {
      let (read, sourceOffset) = window(source, start + piece.lowerBound, piece.count)
      let (write, targetOffset) = window(destination, end + piece.lowerBound, piece.count)
      let run = StridedCopy(
        sizes: [piece.count], source: [1], target: [1], sourceOffset: sourceOffset, targetOffset: targetOffset)
      copy(run, of: type.scalar, from: read, to: write)
    }
  }

  /// Moves a dense tensor across the segment's boundary.
  ///
  /// - Parameter call: returns the dispatch for a piece, which is given as a tensor type.
  @discardableResult func cross(
    _ type: TensorType, from source: Storage, to destination: Storage,
    _ call: (TensorType) -> KernelDispatch<Target.Program>?
  ) -> Storage {
    let pieces = pieces(of: type)
    for piece in pieces {
      guard let call = call(pieces.count == 1 ? type : TensorType(type.scalar, [piece.count])) else { continue }
      /// All elements of a storage have the same number of bytes.
      func part(_ storage: Storage) -> Storage {
        let size = storage.isOutside ? type.scalar.byteCount : target.byteCount(type.scalar)
        return pieces.count == 1
          ? storage : storage.part(at: piece.lowerBound * size, byteCount: piece.count * size)
      }
      add(call, [part(source)], part(destination))
    }
    return destination
  }

  /// Returns ranges of a dense tensor, small enough that kernels can address each with `spare` elements more. All
  /// ranges but the last begin and end at offsets that kernels can be bound to, inside a segment and at its boundary.
  private func pieces(of type: TensorType, spare: Int = 0) -> [Range<Int>] {
    func isSeen(_ count: Int) -> Bool {
      target.sizeFault(TensorType(type.scalar, [count + spare]), isConstant: false) == nil
    }
    if isSeen(type.count) { return [0..<type.count] }
    var length = bufferAlignment
    while isSeen(2 * length) { length *= 2 }
    return stride(from: 0, to: type.count, by: length).map { $0..<min($0 + length, type.count) }
  }
}

extension Storage {
  /// Whether the storage is at the segment's boundary, so that elements may be stored differently from inside.
  fileprivate var isOutside: Bool {
    switch place {
    case .input, .output: true
    case .weight, .scratch: false
    }
  }
}

/// The position of a value in a join.
struct JoinedPart: Hashable {
  let whole: ValueID
  /// The layout of the value and of the join.
  let layout: ValueLayout
  /// The offset, in elements.
  let start: Int
}

extension Graph {
  /// Returns the values that can be written directly into a join: parts of contiguous joins that nodes of this graph
  /// produce and that begin at an offset that kernels can be bound to.
  ///
  /// - Parameters:
  ///   - layouts: the layouts of the selected kernels, by node.
  ///   - byteCount: returns the bytes of an element.
  func joinedParts(_ layouts: [KernelLayouts], byteCount: (ScalarType) -> Int) -> [ValueID: JoinedPart] {
    let producers = producers()
    let outputs = Set(outputs)
    var parts: [ValueID: JoinedPart] = [:]
    for (node, layouts) in zip(nodes, layouts) {
      let layout = layouts.write(0)
      guard let join = node.op as? Concat, node.inputs.indices.allSatisfy({ layouts.read($0) == layout }) else {
        continue
      }
      let type = self[node.outputs[0]].type
      guard type.shape.dimensions[..<join.axis].allSatisfy({ $0 == 1 }) else { continue }
      var start = 0
      for input in node.inputs {
        if start * byteCount(type.scalar) % bufferAlignment == 0, producers[input.index] != nil,
          !outputs.contains(input), parts[input] == nil
        {
          parts[input] = JoinedPart(whole: node.outputs[0], layout: layout, start: start)
        }
        start += layout.count(of: self[input].type.shape)
      }
    }
    return parts
  }
}

extension Slice {
  /// Whether the elements of a slice of a dense tensor are contiguous and in order.
  func isRun(of shape: Shape) -> Bool {
    guard let first = counts.firstIndex(where: { $0 != 1 }) else { return true }
    return steps[first] == 1 && counts[(first + 1)...].elementsEqual(shape.dimensions[(first + 1)...])
      && (first + 1..<shape.rank).allSatisfy { steps[$0] == 1 || counts[$0] == 1 }
  }
}
