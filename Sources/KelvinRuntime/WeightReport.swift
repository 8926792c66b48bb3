import KelvinBasics
package import KelvinDevices
package import KelvinGraph

/// The memory that the weights of a graph take: stored, dense and packed.
package struct WeightReport: Hashable, Sendable, Codable {
  /// The weights that share an encoding.
  package struct Form: Hashable, Sendable, Codable {
    /// The name of the encoding: `palettized 6-bit`, `affine int8`, `dense`.
    package var encoding: String
    package var count: Int
    package var storedBytes: Int
    package var denseBytes: Int
  }

  /// The packed weights of one device.
  package struct Packed: Hashable, Sendable, Codable {
    package var device: String
    package var bytes: Int
    /// The bytes of these that are made from compressed weights at every load and are not in any file; codes that the
    /// CPU keeps are in the compiled cache.
    package var expandedBytes: Int

    package init(device: String, bytes: Int, expandedBytes: Int) {
      self.device = device
      self.bytes = bytes
      self.expandedBytes = expandedBytes
    }
  }

  /// The bytes in the model's file; a weight with several readers counts once.
  package var storedBytes: Int
  /// The bytes as plain elements of their types.
  package var denseBytes: Int
  /// The encodings, in descending order of stored bytes.
  package var forms: [Form]
  /// The packed weights by device, if the graph has been compiled.
  package var packed: [Packed]

  package init(_ graph: Graph, packed: [String: PackedFootprint] = [:]) { self.init([graph], packed: packed) }

  /// Creates the report of several graphs together.
  package init(_ graphs: [Graph], packed: [String: PackedFootprint] = [:]) {
    var forms: [String: Form] = [:]
    var seen = Set<UnsafeRawPointer>()
    // Weights may be computed from others again and again, so that the ways to a source are exponential in number.
    var opened = Set<ObjectIdentifier>()
    var pending = graphs.flatMap { $0.values.compactMap(\.weight) }
    while let weight = pending.popLast() {
      if case .deferred(let deferred) = weight.encoding, !deferred.sources.isEmpty {
        if opened.insert(ObjectIdentifier(deferred)).inserted { pending += deferred.sources }
        continue
      }
      if let address = weight.firstByte, !seen.insert(address).inserted { continue }
      let name = weight.encodingName
      var form = forms[name] ?? Form(encoding: name, count: 0, storedBytes: 0, denseBytes: 0)
      form.count += 1
      form.storedBytes += weight.isStored ? weight.storedByteCount : 0
      form.denseBytes += weight.type.byteCount
      forms[name] = form
    }
    self.forms = forms.values.sorted { ($1.storedBytes, $0.encoding) < ($0.storedBytes, $1.encoding) }
    storedBytes = forms.values.reduce(0) { $0 + $1.storedBytes }
    denseBytes = forms.values.reduce(0) { $0 + $1.denseBytes }
    self.packed = packed.sorted { $0.key < $1.key }.filter { $0.value.byteCount > 0 }.map {
      Packed(device: $0.key, bytes: $0.value.byteCount, expandedBytes: $0.value.expandedByteCount)
    }
  }

  /// The report in words: `2.6 MB stored (43 palettized 6-bit, 12 dense), 7.1 MB expanded; packed 14.1 MB on cpu
  /// (13.9 MB of it in memory only)`
  package var text: String {
    let kinds = forms.map { "\($0.count) \($0.encoding)" }.joined(separator: ", ")
    var text = "\(HumanReadable.bytes(storedBytes)) stored" + (kinds.isEmpty ? "" : " (\(kinds))")
    if denseBytes != storedBytes { text += ", \(HumanReadable.bytes(denseBytes)) expanded" }
    if !packed.isEmpty {
      text += "; packed "
      text += packed.map { part in
        "\(HumanReadable.bytes(part.bytes)) on \(part.device)"
          + (part.expandedBytes > 0 ? " (\(HumanReadable.bytes(part.expandedBytes)) of it in memory only)" : "")
      }.joined(separator: ", ")
    }
    return text
  }
}

extension Weight {
  /// Whether the weight is stored in a file; weights computed by a mapper are not.
  fileprivate var isStored: Bool { if case .deferred = encoding { false } else { true } }

  /// The encoding of the elements: `palettized 4-bit`, `affine int8`, `sparse affine int8`, `dense`.
  fileprivate var encodingName: String {
    switch encoding {
    case .deferred: "computed"
    case .dense: "dense"
    case .packed(let integers): "packed \(integers.bits)-bit"
    case .palettized(let palettized): palettized.indices.sparsity + "palettized \(palettized.indices.elementBits)-bit"
    case .affine(let affine):
      switch affine.data.encoding {
      case .palettized, .selected: affine.data.encodingName + " with scales"
      default: affine.data.sparsity + "affine \(affine.data.elementName)"
      }
    case .sparse(let sparse):
      switch sparse.values.encoding {
      case .selected(let selected): selected.source.encodingName
      default: "sparse \(sparse.values.elementName)"
      }
    case .selected(let selected): selected.source.encodingName
    case .converted(let weight, _): "\(weight.type.scalar)"
    }
  }

  private var sparsity: String { if case .sparse = encoding { "sparse " } else { "" } }

  private var elementBits: Int { type.scalar.isByte ? quantizedBits : 8 * type.scalar.byteCount }

  private var elementName: String {
    type.scalar.isFloatingPoint ? "\(type.scalar)" : "\(type.scalar == .int8 ? "int" : "uint")\(elementBits)"
  }

  /// The address of the first stored byte.
  fileprivate var firstByte: UnsafeRawPointer? {
    switch encoding {
    case .dense(let tensor): tensor.bytes.baseAddress
    case .packed(let integers): integers.bytes.baseAddress
    default: parts.first?.firstByte
    }
  }
}
