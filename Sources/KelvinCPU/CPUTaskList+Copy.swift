import CKelvinKernels
import KelvinDevices

/// A copy between two strided layouts, of at most eight axes after merging.
struct CPUCopy {
  private let layout: StridedLayout
  private let element: Int
  private let sourceOffset: Int
  private let targetOffset: Int

  /// Offsets, sizes and strides count elements of `element` bytes.
  init(
    sizes: [Int], source: [Int], target: [Int], sourceOffset: Int = 0, targetOffset: Int = 0, element: Int,
    in context: CPUContext
  ) throws(DeviceError) {
    let (layout, width) = StridedLayout(sizes, [source, target])
      .widened(element: element, offsets: [sourceOffset, targetOffset])
    let turned = layout.turned
    guard turned.rank <= ck_max_rank else { throw context.unsupported("a copy over \(turned.rank) axes") }
    self.init(
      turned, sourceOffset: sourceOffset / width, targetOffset: targetOffset / width, element: element * width)
  }

  /// - Precondition: at most eight axes.
  init(_ layout: StridedLayout, sourceOffset: Int = 0, targetOffset: Int = 0, element: Int) {
    precondition(layout.rank <= ck_max_rank)
    self.layout = layout
    self.element = element
    self.sourceOffset = sourceOffset
    self.targetOffset = targetOffset
  }

  /// Adds the copy, unless the elements are already in place.
  func record(from source: UnsafeRawPointer?, to target: UnsafeMutableRawPointer, _ list: CPUTaskList) {
    guard let source, source + sourceOffset * element != target + targetOffset * element else { return }
    let arguments = ck_copy_args(
      source: source + sourceOffset * element, target: target + targetOffset * element, element: element,
      rank: layout.rank, sizes: axes(layout.sizes), source_strides: axes(layout.strides[0]),
      target_strides: axes(layout.strides[1]))
    let items = layout.innerCount == 0 ? 0 : layout.outerCount
    list.add(ck_copy_run, arguments, items: items, cost: layout.innerCount)
  }
}

extension CPUTaskList {
  func addConversion(
    _ run: ck_run?, _ source: UnsafeMutableRawPointer?, _ target: UnsafeMutableRawPointer?, _ count: Int
  ) {
    add(
      run, ck_convert_args(x: source, y: target, count: count), items: parts(count, of: Int(ck_map_chunk)),
      cost: Int(ck_map_chunk))
  }

  /// Adds a copy of dense memory, unless the elements are already in place.
  func addCopy(_ source: UnsafeMutableRawPointer?, _ target: UnsafeMutableRawPointer, _ count: Int, element: Int) {
    guard source != target else { return }
    let arguments = ck_copy_args(
      source: source, target: target, element: element, rank: 1, sizes: axes([count]), source_strides: axes([1]),
      target_strides: axes([1]))
    add(ck_copy_run, arguments, items: count == 0 ? 0 : 1, cost: count)
  }
}
