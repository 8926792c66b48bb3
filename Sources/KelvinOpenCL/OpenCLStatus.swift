internal import CKelvinSupport
internal import KelvinDevices

/// Returns the name of a status code in the OpenCL specification.
func statusName(_ status: cl_int) -> String {
  switch status {
  case -1: "CL_DEVICE_NOT_FOUND"
  case -2: "CL_DEVICE_NOT_AVAILABLE"
  case -3: "CL_COMPILER_NOT_AVAILABLE"
  case -4: "CL_MEM_OBJECT_ALLOCATION_FAILURE"
  case -5: "CL_OUT_OF_RESOURCES"
  case -6: "CL_OUT_OF_HOST_MEMORY"
  case -7: "CL_PROFILING_INFO_NOT_AVAILABLE"
  case -11: "CL_BUILD_PROGRAM_FAILURE"
  case -14: "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"
  case -30: "CL_INVALID_VALUE"
  case -33: "CL_INVALID_DEVICE"
  case -34: "CL_INVALID_CONTEXT"
  case -36: "CL_INVALID_COMMAND_QUEUE"
  case -37: "CL_INVALID_HOST_PTR"
  case -38: "CL_INVALID_MEM_OBJECT"
  case -42: "CL_INVALID_BINARY"
  case -43: "CL_INVALID_BUILD_OPTIONS"
  case -44: "CL_INVALID_PROGRAM"
  case -45: "CL_INVALID_PROGRAM_EXECUTABLE"
  case -46: "CL_INVALID_KERNEL_NAME"
  case -48: "CL_INVALID_KERNEL"
  case -49: "CL_INVALID_ARG_INDEX"
  case -50: "CL_INVALID_ARG_VALUE"
  case -51: "CL_INVALID_ARG_SIZE"
  case -52: "CL_INVALID_KERNEL_ARGS"
  case -53: "CL_INVALID_WORK_DIMENSION"
  case -54: "CL_INVALID_WORK_GROUP_SIZE"
  case -55: "CL_INVALID_WORK_ITEM_SIZE"
  case -57: "CL_INVALID_EVENT_WAIT_LIST"
  case -58: "CL_INVALID_EVENT"
  case -61: "CL_INVALID_BUFFER_SIZE"
  case -63: "CL_INVALID_GLOBAL_WORK_SIZE"
  default: "OpenCL status \(status)"
  }
}

extension DeviceError {
  /// Creates the error for a call that returned `status`.
  init(device: String, place: String, call: String, status: cl_int, byteCount: Int? = nil) {
    let code: Code =
      switch status {
      // Drivers return these codes for a context or queue that was valid when it was created; NVIDIA's driver has its
      // own codes below -9000.
      case -2, -14, -33, -34, -36, ..<(-2000): .lost
      case -4, -5, -6, -61: .outOfMemory
      case -11, -42: .compilation
      default: .execution
      }
    self.init(
      code, device: device, place: place, reason: "\(call) failed: \(statusName(status))", byteCount: byteCount)
  }
}
