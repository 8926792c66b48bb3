import CKelvinKernels

/// The tasks of an invocation and the memory of their arguments.
final class CPUTaskList {
  private(set) var tasks: [ck_task] = []
  /// The node of each task.
  private(set) var nodes: [Int] = []
  /// Bytes of the arguments of each task.
  private var sizes: [Int] = []
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
    sizes.append(MemoryLayout<Arguments>.size)
  }

  /// Adds a task of an element-wise kernel, whose items are strips.
  ///
  /// - Parameter cost: roughly how many operations one element takes.
  func addStrips<Arguments: BitwiseCopyable>(
    _ run: ck_run?, _ arguments: Arguments, _ count: Int, cost: Int = 1
  ) {
    add(run, arguments, items: parts(count, of: Int(ck_strip)), cost: Int(ck_strip) * cost)
  }

  /// Makes the tasks from one on a chain. They stay as they are unless there is one for each of `strips`.
  ///
  /// - Parameter inner: for each task, the memory of operands that only the chain uses, and the offset in a thread's
  ///   memory that replaces it.
  func chain(_ strips: [ElementChains.Strips], from first: Int, _ inner: [[UnsafeMutableRawPointer: Int]]) {
    let chained = tasks[first...]
    guard chained.count == strips.count, let last = chained.last,
      sizes[first...].allSatisfy({ $0 <= ck_chain_arguments })
    else { return }
    let links = zip(chained.indices, zip(strips, inner)).map { index, operands in
      let (strips, inner) = operands
      var link = ck_chain_link()
      (link.run, link.args, link.size) = (chained[index].run, chained[index].args, sizes[index])
      let places = strips.elements.indices.map { pointer in
        chained[index].args.load(fromByteOffset: 8 * pointer, as: UnsafeMutableRawPointer?.self).flatMap { inner[$0] }
      }
      fill(&link.elements, with: zip(strips.elements, places).map { $1 == nil ? 0 : $0 })
      fill(&link.places, with: places.map { $0 ?? 0 })
      return link
    }
    let grain = chained.reduce(last.grain) { min($0, $1.grain) }
    tasks.removeLast(chained.count)
    nodes.removeLast(chained.count)
    sizes.removeLast(chained.count)
    add(ck_chain_run, ck_chain_args(links: array(links), count: links.count), items: last.count, cost: 1)
    tasks[first].grain = grain
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
