/// A bitmap font of 5 × 7 dots for labels in images.
enum BitmapFont {
  static let width = 5
  static let height = 7
  /// The distance between two characters in dots.
  static let advance = 6

  /// Returns the rows of a character from the top, with the leftmost dot in bit 4. Characters other than printable
  /// ASCII are drawn as a box.
  static func rows(_ character: Character) -> [UInt8] {
    guard let code = character.asciiValue, (32...126).contains(code) else { return missing }
    return glyphs[Int(code) - 32]
  }

  private static let missing: [UInt8] = [31, 17, 17, 17, 17, 17, 31]

  /// The glyphs of characters 32 to 126: seven rows each, one base-32 digit per row.
  private static let glyphs: [[UInt8]] =
    """
    0000000 4444404 AA00000 AAVAVAA 4FKE5U4 OP248J3 CIC8LID 4400000
    2444442 8444448 04LEL40 044V440 0000448 000V000 00000CC 01248G0
    EHJLPHE 4C4444E EH1248V U11E11U 26AIV22 VGU11HE 68GUHHE V124444
    EHHEHHE EHHF12C 0440440 0440448 248G842 00V0V00 8421248 EH12404
    EHNLNGE EHHVHHH UHHUHHU EHGGGHE UHHHHHU VGGUGGV VGGUGGG EHGNHHF
    HHHVHHH E44444E 72222IC HIKOKIH GGGGGGV HRLLHHH HPLLJHH EHHHHHE
    UHHUGGG EHHHLID UHHUKIH FGGE11U V444444 HHHHHHE HHHHHA4 HHHLLRH
    HHA4AHH HHA4444 V1248GV E88888E 0G84210 E22222E 4AH0000 000000V
    8400000 00E1FHF GGUHHHU 00EGGHE 11FHHHF 00EHVGE 68U8888 00FHF1E
    GGUHHHH 40C444E 20622IC GGIKOKI C44444E 00QLLLL 00UHHHH 00EHHHE
    00UHUGG 00FHF11 00MPGGG 00FGE1U 88U8886 00HHHHF 00HHHA4 00HLLLA
    00HA4AH 00HHF1E 00V248V 3448443 4444444 O44244O 00CL600
    """.split(whereSeparator: \.isWhitespace).map { word in word.compactMap { UInt8(String($0), radix: 32) } }
}
