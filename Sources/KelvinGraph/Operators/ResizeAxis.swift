/// The sampling of one axis by `Resize`. Source coordinates are float64, so that every device reads the same elements.
package struct ResizeAxis: Hashable, Sendable {
  /// Two neighbors and the weight of the upper one; the weight of the lower one is the rest.
  package struct Taps: Hashable, Sendable {
    package var lower: Int
    package var upper: Int
    package var fraction: Double
  }

  /// The axis, counted from the front.
  package var axis: Int
  /// The number of output positions.
  package var size: Int
  package var scale: Double
  package var offset: Double

  package init(axis: Int, size: Int, scale: Double, offset: Double) {
    self.axis = axis
    self.size = size
    self.scale = scale
    self.offset = offset
  }

  /// Returns the coordinate that an output position reads along an axis of `length` elements, at least one.
  package func source(_ position: Int, length: Int) -> Double {
    min(max(scale * Double(position) + offset, 0), Double(length - 1))
  }

  /// Returns for each output position the neighbors and the weight of linear interpolation.
  package func linearTaps(length: Int) -> [Taps] {
    (0..<size).map { position in
      let coordinate = source(position, length: length)
      let lower = Int(coordinate)
      let upper = min(lower + 1, length - 1)
      // In the precision of devices: a weight of the lower element that they would round away is zero.
      let fraction = Float(coordinate - Double(lower))
      return fraction == 1
        ? Taps(lower: upper, upper: upper, fraction: 0) : Taps(lower: lower, upper: upper, fraction: Double(fraction))
    }
  }

  /// Returns for each output position the element that it takes.
  package func nearestIndices(length: Int, _ rounding: Resize.Rounding) -> [Int] {
    (0..<size).map { position in
      let coordinate = source(position, length: length)
      return switch rounding {
      case .floor: Int(coordinate)
      case .ceil: Int(coordinate.rounded(.up))
      case .halfDown: Int((coordinate - 0.5).rounded(.up))
      case .halfUp: Int((coordinate + 0.5).rounded(.down))
      }
    }
  }
}

extension ResizeAxis: AttributeConvertible {
  package static let attributeType = "`axis(number, size, scale, offset)`"

  package var attributeValue: AttributeValue {
    .call("axis", [axis.attributeValue, size.attributeValue, scale.attributeValue, offset.attributeValue])
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    guard case .call("axis", let values) = value, values.count == 4 else {
      throw .expected("axis(number, size, scale, offset)", value)
    }
    self.init(
      axis: try Int(values[0]), size: try Int(values[1]), scale: try Double(values[2]), offset: try Double(values[3]))
  }
}
