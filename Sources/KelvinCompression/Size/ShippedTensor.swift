import KelvinBasics
import KelvinReport

/// A tensor as a model's files store it.
package struct ShippedTensor: Sendable {
  /// Bytes of a tensor in one file.
  struct Part: Hashable, Sendable {
    /// The name of the file.
    let file: ExactString
    let offset: Int
    let byteCount: Int
  }

  /// The name in the model; of a weight of a layer, the layer's name and the weight's, with a dot between them.
  package let name: String
  /// The size of each dimension, outermost first; empty for a scalar.
  package let shape: [Int]
  package let coding: TensorCoding
  /// The bytes that belong to no other tensor: elements, tables, scales and masks.
  let parts: [Part]

  package var byteCount: Int { parts.reduce(0) { $0 + $1.byteCount } }

  /// The name of the file with most of the bytes.
  package var file: String { parts.max { $0.byteCount < $1.byteCount }?.file.string ?? "" }
}

/// How the elements of a tensor are stored.
package indirect enum TensorCoding: Hashable, Sendable, CustomStringConvertible {
  /// One element after another, of a type: `float16`, `int4`.
  case elements(String)
  /// Indices into a table of numbers.
  case palette(bits: Int)
  /// A palette with a scale for each channel or block.
  case scaled(TensorCoding)
  /// The elements that are not zero, and their positions.
  case sparse(TensorCoding)

  /// The name, as in `kelvin compress`: `float16`, `palette-6`, `sparse int8`, `scaled palette-4`.
  package var description: String {
    switch self {
    case .elements(let type): type
    case .palette(let bits): "palette-\(bits)"
    case .scaled(let coding): "scaled \(coding)"
    case .sparse(let coding): "sparse \(coding)"
    }
  }

  /// The coding's colour on a page.
  var kind: SizePage.Coding {
    switch self {
    case .elements("float32"), .elements("float64"): .float32
    case .elements("string"): .other
    case .elements(let type): type.hasPrefix("float") || type.hasPrefix("bfloat") ? .float16 : .integers
    case .palette: .palette
    case .scaled(let coding): coding.kind
    case .sparse: .sparse
    }
  }
}

/// A list of tensors in which no bytes are counted twice.
struct ShippedTensors {
  private(set) var tensors: [ShippedTensor] = []
  private var seen: Set<Place> = []

  private struct Place: Hashable {
    let file: ExactString
    let offset: Int
  }

  /// Adds a tensor with those of its parts that no tensor before has. A tensor without bytes of its own is left out.
  mutating func add(_ name: String, _ shape: [Int], _ coding: TensorCoding, _ parts: [ShippedTensor.Part]) {
    let own = parts.filter { $0.byteCount > 0 && seen.insert(Place(file: $0.file, offset: $0.offset)).inserted }
    guard !own.isEmpty else { return }
    tensors.append(ShippedTensor(name: name, shape: shape, coding: coding, parts: own))
  }
}
