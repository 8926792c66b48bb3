import FoundationEssentials
import Kelvin
import KelvinGraph
import Testing

@Suite struct FeatureDescriptionTests {
  private func describe(_ feature: Feature) throws -> Kelvin.FeatureDescription {
    let function = Function(inputs: [feature], outputs: [], parts: [])
    return try #require(ModelDescription(function, ModelMetadata()).inputDescriptionsByName[feature.name])
  }
  private func array(_ shape: [Int], _ type: MultiArrayDataType = .float32) throws -> FeatureValue {
    FeatureValue(multiArray: try MultiArray(shape: shape, dataType: type))
  }

  @Test func fixedShapeIsAnEnumerationOfOne() throws {
    let description = try describe(Feature(name: "x", type: .tensor(.float32, [.fixed(2), .fixed(3)])))
    let constraint = try #require(description.multiArrayConstraint)
    #expect(constraint.shape == [2, 3] && constraint.dataType == .float32)
    #expect(constraint.shapeConstraint.type == .enumerated)
    #expect(constraint.shapeConstraint.enumeratedShapes == [[2, 3]])
    #expect(try description.isAllowedValue(array([2, 3])))
    #expect(try description.isAllowedValue(array([2, 3], .int8)), "integers become floats")
    #expect(try !description.isAllowedValue(array([3, 2])))
    #expect(!description.isAllowedValue(FeatureValue(double: 1)))
    #expect(!description.isAllowedValue(FeatureValue(undefined: .multiArray)))
  }

  @Test func flexibleShapesAreRangesOrEnumerations() throws {
    let dimensions: [Dimension] = [.flexible(name: "n", range: 1...8, standard: 2), .fixed(3)]
    let ranged = try describe(Feature(name: "x", type: .tensor(.int32, dimensions), isOptional: true, defaultValue: 4))
    let constraint = try #require(ranged.multiArrayConstraint?.shapeConstraint)
    #expect(ranged.multiArrayConstraint?.shape == [2, 3] && ranged.defaultValue == 4)
    #expect(constraint.type == .range && constraint.sizeRangeForDimension == [1...8, 3...3])
    #expect(try ranged.isAllowedValue(array([8, 3], .int32)))
    #expect(try !ranged.isAllowedValue(array([9, 3], .int32)))
    #expect(try ranged.isAllowedValue(array([8, 3], .float32)), "whole numbers become integers")
    let halves = try MultiArray([Float](repeating: 0.5, count: 24), shape: [8, 3])
    #expect(!ranged.isAllowedValue(FeatureValue(multiArray: halves)), "fractions do not")
    #expect(ranged.isAllowedValue(FeatureValue(undefined: .multiArray)))
    let listed = try describe(
      Feature(name: "x", type: .tensor(.float32, dimensions), allowedShapes: [[2, 3], [5, 3]]))
    #expect(listed.multiArrayConstraint?.shapeConstraint.enumeratedShapes == [[2, 3], [5, 3]])
    #expect(try listed.isAllowedValue(array([5, 3])))
    #expect(try !listed.isAllowedValue(array([4, 3])))
  }

  @Test func imagesHaveTheSizesTheModelAllows() throws {
    func pixels(_ width: Int, _ height: Int) throws -> PixelBuffer {
      try PixelBuffer(width: width, height: height, format: .gray8, bytes: [UInt8](repeating: 0, count: width * height))
    }
    var image = ImageFeature(width: 4, height: 6, layout: .bgr)
    let fixed = try describe(Feature(name: "x", type: .image(image)))
    #expect(fixed.imageConstraint?.channelOrder == .bgr)
    #expect(fixed.imageConstraint?.sizeConstraint.enumeratedImageSizes == [.init(pixelsWide: 4, pixelsHigh: 6)])
    #expect(try fixed.isAllowedValue(FeatureValue(pixelBuffer: pixels(4, 6))))
    #expect(try !fixed.isAllowedValue(FeatureValue(pixelBuffer: pixels(6, 4))))
    #expect(try fixed.isAllowedValue(FeatureValue(image: pixels(6, 4))), "brought to the size")
    image.sizes = .enumerated([.init(width: 4, height: 6), .init(width: 8, height: 2)])
    let listed = try describe(Feature(name: "x", type: .image(image)))
    #expect(listed.imageConstraint?.sizeConstraint.pixelsWideRange == 4...8)
    #expect(try listed.isAllowedValue(FeatureValue(pixelBuffer: pixels(8, 2))))
    #expect(try !listed.isAllowedValue(FeatureValue(pixelBuffer: pixels(8, 6))))
    image.sizes = .ranged(widths: 2...10, heights: 3...7)
    let ranged = try describe(Feature(name: "x", type: .image(image)))
    #expect(ranged.imageConstraint?.sizeConstraint.type == .range)
    #expect(try ranged.isAllowedValue(FeatureValue(pixelBuffer: pixels(10, 3))))
    #expect(try !ranged.isAllowedValue(FeatureValue(pixelBuffer: pixels(10, 2))))
    #expect(try ranged.isAllowedValue(FeatureValue(image: pixels(1, 1))))
  }

  @Test func dictionariesAndSequencesHaveTypedElements() throws {
    let words = try describe(Feature(name: "x", type: .dictionary(keys: .string)))
    #expect(words.dictionaryConstraint?.keyType == .string)
    #expect(words.isAllowedValue(FeatureValue(dictionary: ["a": 1])))
    #expect(!words.isAllowedValue(FeatureValue(dictionary: [3: 1])))
    let numbers = try describe(Feature(name: "x", type: .sequence(of: .int64)))
    #expect(numbers.sequenceConstraint?.valueType == .int64)
    #expect(numbers.isAllowedValue(FeatureValue(sequence: FeatureSequence(int64s: [1, 2]))))
    #expect(!numbers.isAllowedValue(FeatureValue(sequence: FeatureSequence(strings: ["1"]))))
    let number = try describe(Feature(name: "x", type: .double))
    #expect(number.isAllowedValue(FeatureValue(int64: 3)) && !number.isAllowedValue(FeatureValue(string: "3")))
  }
}
