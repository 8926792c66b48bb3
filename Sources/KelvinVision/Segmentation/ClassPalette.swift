package import KelvinImages

/// Colours for classes that a model gives none.
enum ClassPalette {
  /// A colour for each of classes 0 to 254. The first eight are Okabe and Ito's; all stay apart for every kind of
  /// colour vision as far as so many can (made by `dev/make-palette.py`).
  static let colors: [IndexedPNG.Color] =
    """
    000000 E69F00 56B4E9 009E73 F0E442 0072B2 D55E00 CC79A7 8800FF 663311 112288 AAFF88 554455 88BB66 BB55FF
    330044 00EEAA AA5544 8811CC 003322 CCCCDD AA0088 DD00BB AA3300 EEBB55 222233 886677 EE7788 9999FF 999933
    EEFF22 1100CC 7777DD 885555 004466 AADD88 88DDFF FF99BB 332200 DDFFDD 110055 664433 997733 77AACC BB5599
    6622AA 8844FF BBBB88 44CC11 661155 EEDDDD 88FFAA BBEEFF 991199 CC6666 8844CC 99AA99 660022 332266 446611
    DD1122 FF77CC 448855 DDFF77 889955 221133 55CCBB 3399DD 5500AA 0000FF 66CC44 3377EE 221100 6622DD EE99FF
    AA7788 9977CC BBDD77 000077 DDBBEE 991155 007733 773377 332244 330022 4455AA 9977AA FF3388 3355DD FF11BB
    443344 DD8800 88EE66 665566 444444 992200 88CC66 661177 EECC11 662233 994499 BBEE55 555588 9988FF 5500BB
    99FF99 FF4455 110033 884477 774422 441177 440011 99DDBB BB8899 FF5577 BBEECC 775544 DDCC99 223399 552288
    77FFBB FFFFBB AABB99 557722 441155 22FF33 664466 558811 333355 8811BB 99CC77 AAAAAA DDEE77 99AA33 CC3377
    330066 BBFF55 3344FF 996666 22CCFF EEFFEE EE33CC 771166 77DD55 CCBBDD 004433 778844 552200 667799 995588
    EE66BB EECCAA BB5555 110099 998833 FF2233 BBCCCC 0066DD 889988 CC7777 BBAA55 CC22EE FFCCEE DDAA44 BBAADD
    6699BB 660099 554499 779944 8855AA DD55AA BB11BB CCFFCC 995566 FF9966 447744 990077 FF88AA 8855CC 3344CC
    3388FF AA11DD 66EEEE 665533 002211 BB77DD DD9988 AAEE88 8899EE 1122DD DD3399 AA99DD BBDDCC 559966 6633AA
    DDEEEE 110011 777788 550044 772222 DDCC44 77BBBB 335544 772288 DD99EE CCBBAA CCFF66 7700BB 99BB77 331122
    550033 AAFFFF 7777BB 115533 7766DD 8888EE 447777 FFDDBB 444422 BBBBCC 9933AA 445555 223377 44BBAA 77BB22
    330055 1166FF BB9966 8833EE 550066 99DD66 882244 556622 DDDD99 550000 6600EE 7722EE CC0011 6600CC BBCC88
    9922BB 881111 EE6622 000022 110044 995533 5577CC BB7799 66BB55 99EE22 77AA55 5588CC 442211 BB99CC AAAA44
    """.split(whereSeparator: \.isWhitespace).compactMap { IndexedPNG.Color(hexadecimal: $0) }

  /// A colour for the n-th of things that are drawn on an image, again from the beginning where there are more. Black, the
  /// first of the palette, is for backgrounds.
  static func foreground(_ place: Int) -> IndexedPNG.Color { colors[1 + place % (colors.count - 1)] }

  /// The label map's last index: parts of an image that a crop kept from the model.
  static let unseenIndex = 255
  static let unseenColor = IndexedPNG.Color(red: 255, green: 255, blue: 255)
}

extension IndexedPNG.Color {
  /// `RRGGBB`, with or without `#` before it; nil for any other text.
  package init?(hexadecimal text: some StringProtocol) {
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard digits.utf8.count == 6, digits.allSatisfy(\.isHexDigit), let value = Int(digits, radix: 16) else {
      return nil
    }
    self.init(red: UInt8(value >> 16), green: UInt8(value >> 8 & 255), blue: UInt8(value & 255))
  }

  var hexadecimal: String {
    "#"
      + [red, green, blue].map { byte in
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
  }
}
