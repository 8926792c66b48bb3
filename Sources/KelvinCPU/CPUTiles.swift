import CKelvinKernels

/// The kernels that multiply tiles: for the unit of the processor (AMX), or for its emulation, which tests use.
enum CPUTiles {
  case unit, emulation

  var kernels: ck_tile_kernels? {
    switch self {
    case .unit: Self.checked.kernels
    case .emulation: ck_tiles(true)?.pointee
    }
  }

  /// The kernels for this processor's unit if they may be used and compute the same bits as the emulation, otherwise the
  /// reason why not; neither if the processor has no such unit. The process asks for the unit here.
  static let checked: (kernels: ck_tile_kernels?, fault: String?) = {
    switch ck_request_tiles() {
    case ck_tiles_absent: return (nil, nil)
    case ck_tiles_refused: return (nil, "the operating system does not permit this process to use them")
    default:
      guard let kernels = ck_tiles(false)?.pointee else { return (nil, nil) }
      let fault = TileCheck.fault(of: kernels)
      return (fault == nil ? kernels : nil, fault)
    }
  }()
}
