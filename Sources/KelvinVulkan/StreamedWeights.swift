import CKelvinSupport
import KelvinDevices
import KelvinGPU
import KelvinGraph

/// The weights of an executable that stay in host memory and are copied to the device before each use.
///
/// The weights of a node are one parcel. Parcels take turns in a ring of buffers (`VulkanWeightStore.ring`).
struct StreamedWeights: Sendable {
  /// A weight's bytes in a parcel.
  struct Place: Sendable {
    let parcel: Int
    let offset: Int
  }

  /// The host memory of each parcel, in the order of first use.
  private(set) var parcels: [VulkanBuffer] = []
  /// The places of streamed weights, by index.
  private(set) var places: [Int: Place] = [:]
  /// For each dispatch, the parcel that it reads, and the next other one that a dispatch behind it reads.
  let uses: [Int?]
  let next: [Int?]

  /// The largest parcel, in bytes.
  var placeByteCount: Int { parcels.map(\.byteCount).max() ?? 0 }

  /// Copies weights to memory that the device reads. Call it on a `DriverThread`.
  ///
  /// - Parameters:
  ///   - owners: the node of each streamed weight, by index.
  ///   - packed: the bytes of these weights.
  init(
    _ lowered: LoweredSegment<VulkanTarget>, owners: [Int: String], packed: [Int: Bytes], _ context: VulkanContext
  ) throws(DeviceError) {
    let nodes = Set(owners.values)
    var numbers: [String: Int] = [:]
    let uses = zip(lowered.dispatches, lowered.nodes).map { dispatch, node -> Int? in
      guard nodes.contains(node) else { return nil }
      let isReader = dispatch.reads.contains { storage in
        if case .weight(let index) = storage.place { owners[index] != nil } else { false }
      }
      guard isReader else { return nil }
      let number = numbers[node] ?? numbers.count
      numbers[node] = number
      return number
    }
    var next: [Int?] = uses.map { _ in nil }
    var (now, later): (Int?, Int?) = (nil, nil)
    for dispatch in uses.indices.reversed() {
      if let parcel = uses[dispatch], parcel != now { (now, later) = (parcel, now) }
      next[dispatch] = later
    }
    (self.uses, self.next) = (uses, next)
    var sizes = [Int](repeating: 0, count: numbers.count)
    for (index, owner) in owners.sorted(by: { $0.key < $1.key }) {
      guard let parcel = numbers[owner], let bytes = packed[index] else { continue }
      places[index] = Place(parcel: parcel, offset: sizes[parcel])
      sizes[parcel] += (bytes.count + bufferAlignment - 1) / bufferAlignment * bufferAlignment
    }
    for size in sizes { parcels.append(try VulkanBuffer.staging(context, byteCount: size)) }
    for (index, place) in places {
      try packed[index]?.withUnsafeBytes { bytes throws(DeviceError) in
        try parcels[place.parcel].write(bytes, at: place.offset)
      }
    }
  }
}

/// Records the copies of parcels into a ring: of each before it is read, and of the next one before that, so that a driver
/// may copy while a node computes. An invocation assumes nothing about what the ring holds when it starts.
struct ParcelRecorder {
  private let streams: StreamedWeights
  private let ring: [VulkanBuffer]
  /// The parcel in each place of the ring.
  private var held: [Int?]
  /// Whether kernels do not see the latest copies yet.
  private var isCopying = false

  init(_ streams: StreamedWeights, into ring: [VulkanBuffer]) {
    (self.streams, self.ring) = (streams, ring)
    held = ring.map { _ in nil }
  }

  /// Records what must precede a dispatch.
  mutating func prepare(dispatch: Int, _ commands: VulkanCommands, _ buffer: VkCommandBuffer) {
    guard let parcel = streams.uses[dispatch] else { return }
    fetch(parcel, commands, buffer)
    if isCopying { commands.barrier(buffer, .transferToEverything) }
    isCopying = false
    if let next = streams.next[dispatch], next % ring.count != parcel % ring.count { fetch(next, commands, buffer) }
  }

  /// Records the copy of a parcel to its place, which earlier kernels may still read.
  private mutating func fetch(_ parcel: Int, _ commands: VulkanCommands, _ buffer: VkCommandBuffer) {
    let place = parcel % ring.count
    guard held[place] != parcel else { return }
    held[place] = parcel
    isCopying = true
    let source = streams.parcels[parcel]
    commands.barrier(buffer, .everythingToTransfer)
    var region = VkBufferCopy(srcOffset: 0, dstOffset: 0, size: VkDeviceSize(source.byteCount))
    commands.vk.vkCmdCopyBuffer!(buffer, source.allocation.buffer, ring[place].allocation.buffer, 1, &region)
  }
}
