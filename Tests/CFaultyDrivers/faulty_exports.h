// The simulated drivers as a library in place of a loader, with the real one's exports, configured by environment
// variables.
// FAULTY_FAULT is "function first count code hangs"; FAULTY_VULKAN and FAULTY_OPENCL are the real loaders' paths. Others
// are numbers of the order: FAULTY_LIE, FAULTY_DROP, FAULTY_FLIP, FAULTY_AFTER, FAULTY_SLOW, FAULTY_NEWER, FAULTY_CARD,
// FAULTY_MEMORY, FAULTY_TAKEN. At the end, a line with the peak of the device's memory is added to the file FAULTY_PEAK.

static unsigned long bytes(const char *variable) {
  const char *text = getenv(variable);
  return text != NULL ? strtoul(text, NULL, 10) : 0;
}

static unsigned number(const char *variable) { return (unsigned)bytes(variable); }

__attribute__((constructor)) static void read_order(void) {
  static char function[64];
  FaultyOrder told = {0};
  const char *text = getenv("FAULTY_FAULT");
  if (text != NULL) {
    if (sscanf(text, "%63s %u %u %d %d", function, &told.fault.first, &told.fault.count, &told.fault.code,
               &told.fault.hangs) != 5)
      abort();
    told.fault.function = function;
  }
  told.card = (FaultyCard)number("FAULTY_CARD");
  told.lie = number("FAULTY_LIE");
  told.drop = number("FAULTY_DROP");
  told.flip = number("FAULTY_FLIP");
  told.after = number("FAULTY_AFTER");
  told.slow = number("FAULTY_SLOW");
  told.newer = number("FAULTY_NEWER");
  told.memory = bytes("FAULTY_MEMORY");
  told.taken = bytes("FAULTY_TAKEN");
  told.hidden = bytes("FAULTY_HIDDEN");
  order = told;
}

__attribute__((destructor)) static void write_peak(void) {
  const char *path = getenv("FAULTY_PEAK");
  FILE *file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fprintf(file, "%lu\n", faulty_peak_bytes());
  fclose(file);
}

__attribute__((visibility("default"))) PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  return get_address(instance, name);
}

#define EXPORT(name)                                                            \
  __attribute__((visibility("default"))) Word exported_##name(WORDS) __asm__(#name); \
  Word exported_##name(WORDS) {                                                 \
    faulty_opencl(#name);                                                       \
    return pass(Index_##name, EACH);                                            \
  }
KELVIN_OPENCL_FUNCTIONS(EXPORT)
#undef EXPORT
