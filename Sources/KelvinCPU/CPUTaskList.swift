import CKelvinKernels

/// The tasks of an invocation and the memory of their arguments.
final class CPUTaskList {
  private(set) var tasks: [ck_task] = []
  /// The node of each task.
  private(set) var nodes: [Int] = []
  /// The node that tasks are being added for.
  var node = 0
  private let threads: Int
  private var blocks: [UnsafeMutableRawPointer] = []
  /// The fault that tasks report about their data.
  let fault = UnsafeMutablePointer<ck_fault>.allocate(capacity: 1)

  init(threads: Int) {
    self.threads = threads
    fault.initialize(to: ck_fault())
  }

  deinit {
    for block in blocks { block.deallocate() }
    fault.deallocate()
  }

  /// Adds a task of independent items.
  ///
  /// - Parameter cost: roughly how many elements or operations one item handles. Cheap items are claimed together.
  func add<Arguments: BitwiseCopyable>(_ run: ck_run?, _ arguments: Arguments, items: Int, cost: Int) {
    guard items > 0 else { return }
    let block = UnsafeMutablePointer<Arguments>.allocate(capacity: 1)
    block.initialize(to: arguments)
    blocks.append(UnsafeMutableRawPointer(block))
    tasks.append(ck_task(run: run, args: block, count: items, grain: grain(items: items, cost: cost)))
    nodes.append(node)
  }

  /// Returns a copy of an array that is valid as long as the tasks.
  func array<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafePointer<Element> {
    let block = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
    block.initialize(from: elements, count: elements.count)
    blocks.append(UnsafeMutableRawPointer(block))
    return UnsafePointer(block)
  }

  /// Returns the number of items to claim at a time, so that a claim pays for itself and threads get equally many
  /// claims.
  private func grain(items: Int, cost: Int) -> Int {
    let worthwhile = parts(items, of: max(1, Self.claimCost / max(cost, 1)))
    guard threads > 1, worthwhile > 1 else { return items }
    let claims = min(parts(worthwhile, of: threads), Self.claimsPerThread) * threads
    return parts(items, of: claims)
  }

  /// The cost that pays for a claim of its own.
  private static let claimCost = 1 << 15
  private static let claimsPerThread = 8
}

/// Returns the number of parts of at most `size` that make up a count.
func parts(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

/// Writes the first elements of an array that C declared with a fixed size.
func fill<Tuple, Element>(_ tuple: inout Tuple, with elements: [Element]) {
  withUnsafeMutableBytes(of: &tuple) { raw in
    let target = raw.bindMemory(to: Element.self)
    precondition(elements.count <= target.count)
    for (index, element) in elements.enumerated() { target[index] = element }
  }
}

/// Returns a fixed array of the kernels' arguments: a number for each axis, then zeros.
func axes(_ numbers: [Int]) -> (Int, Int, Int, Int, Int, Int, Int, Int) {
  var array = (0, 0, 0, 0, 0, 0, 0, 0)
  fill(&array, with: numbers)
  return array
}
