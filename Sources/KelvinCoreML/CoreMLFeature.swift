import KelvinGraph
import KelvinImport

/// A `FeatureDescription` message.
struct CoreMLFeature {
  enum Kind {
    case int64, double, string
    case image(CoreMLImage)
    case array(CoreMLArray)
    case dictionary(FeatureKind.KeyType)
    case sequence(FeatureKind.KeyType)
    case state(CoreMLArray)
    case unknown
  }

  var name = ""
  var summary = ""
  var kind = Kind.unknown
  var isOptional = false

  init(name: String, summary: String) {
    self.name = name
    self.summary = summary
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.FeatureDescription
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.name: name = try field.name()
      case Fields.shortDescription: summary = try field.string()
      case Fields.type: try readType(field.message())
      default: break
      }
    }
  }

  private mutating func readType(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.FeatureType
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.int64Type: kind = .int64
      case Fields.doubleType: kind = .double
      case Fields.stringType: kind = .string
      case Fields.imageType: kind = .image(try CoreMLImage(field.message()))
      case Fields.multiArrayType: kind = .array(try CoreMLArray(field.message()))
      case Fields.dictionaryType:
        let isInteger = try field.message().message(CoreMLSchema.DictionaryFeatureType.int64KeyType) != nil
        kind = .dictionary(isInteger ? .int64 : .string)
      case Fields.sequenceType:
        let isInteger = try field.message().message(CoreMLSchema.SequenceFeatureType.int64Type) != nil
        kind = .sequence(isInteger ? .int64 : .string)
      case Fields.stateType:
        if let array = try field.message().message(CoreMLSchema.StateFeatureType.arrayType) {
          kind = .state(try CoreMLArray(array))
        }
      case Fields.isOptional: isOptional = try field.bool()
      default: break
      }
    }
  }
}

/// An `ArrayFeatureType` message.
struct CoreMLArray {
  var shape: [Int] = []
  var dataType = 0
  /// For each axis, the sizes that the ranges or the enumerated shapes allow.
  var ranges: [ClosedRange<Int>] = []
  /// The enumerated shapes; empty if the file has none.
  var shapes: [Shape] = []
  var standardValue: Double?

  /// Creates the description of an array.
  ///
  /// - Parameters:
  ///   - ranges: The least and the greatest size of each axis; a negative greatest size means no limit.
  ///   - shapes: The enumerated shapes, if the file has some.
  init(
    shape: [Int], dataType: Int, ranges: [[Int]], shapes: [[Int]], _ malformed: (String) -> FormatError
  ) throws(FormatError) {
    guard max(shape.count, ranges.count) <= Emitter.rankLimit else { throw malformed("it has too many axes") }
    self.shape = shape
    self.dataType = dataType
    for range in ranges {
      guard range.count == 2, let sizes = Self.range(range[0], range[1]) else { throw malformed("sizes of \(range)") }
      self.ranges.append(sizes)
    }
    for shape in shapes { add(shape) }
  }

  /// Returns the range of sizes between two bounds, or nil if it is empty.
  private static func range(_ lower: Int, _ upper: Int) -> ClosedRange<Int>? {
    let last = upper < 0 ? Int.max : upper
    return lower >= 0 && lower <= last ? lower...last : nil
  }

  private mutating func add(_ sizes: [Int]) {
    shapes.append(Shape(sizes))
    if ranges.isEmpty {
      ranges = sizes.map { $0...$0 }
    } else if ranges.count == sizes.count {
      ranges = zip(ranges, sizes).map { min($0.lowerBound, $1)...max($0.upperBound, $1) }
    }
  }

  init(_ message: WireMessage) throws(FormatError) {
    typealias Fields = CoreMLSchema.ArrayFeatureType
    var reader = message.fields()
    while let field = try reader.next() {
      switch field.number {
      case Fields.shape: try field.append(to: &shape, limit: Emitter.rankLimit)
      case Fields.dataType: dataType = try field.integer()
      case Fields.intDefaultValue: standardValue = Double(Int32(truncatingIfNeeded: try field.integer()))
      case Fields.floatDefaultValue: standardValue = Double(try field.float())
      case Fields.doubleDefaultValue: standardValue = try field.double()
      case Fields.shapeRange: try readRanges(field.message())
      case Fields.enumeratedShapes: try readShapes(field.message())
      default: break
      }
    }
  }

  private mutating func readRanges(_ message: WireMessage) throws(FormatError) {
    try message.each(CoreMLSchema.ArrayFeatureType.ShapeRange.sizeRanges) { (field) throws(FormatError) in
      try field.check(ranges.count, Emitter.rankLimit)
      var (lower, upper) = (0, 0)
      var range = try field.message().fields()
      while let part = try range.next() {
        if part.number == CoreMLSchema.SizeRange.lowerBound { lower = try part.integer() }
        if part.number == CoreMLSchema.SizeRange.upperBound { upper = try part.integer() }
      }
      guard let sizes = Self.range(lower, upper) else {
        throw FormatError(.malformed, file: message.file, offset: field.offset, "sizes from \(lower) to \(upper)")
      }
      ranges.append(sizes)
    }
  }

  private mutating func readShapes(_ message: WireMessage) throws(FormatError) {
    try message.each(CoreMLSchema.ArrayFeatureType.EnumeratedShapes.shapes) { (field) throws(FormatError) in
      var sizes: [Int] = []
      try field.message().each(CoreMLSchema.ArrayFeatureType.Shape.shape) { (part) throws(FormatError) in
        try part.append(to: &sizes, limit: Emitter.rankLimit)
      }
      try field.check(shapes.count, WireMessage.operandLimit)
      add(sizes)
    }
  }
}
