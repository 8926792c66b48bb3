// The simulated drivers as a library in place of a loader, with the real one's exports, configured by environment
// variables.
// FAULTY_FAULT is "function first count code hangs", FAULTY_LIE the number of the faulty kernel, FAULTY_NEWER the
// number of newer versions; FAULTY_VULKAN and FAULTY_OPENCL are the real loaders' paths.

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
  const char *card = getenv("FAULTY_CARD");
  if (card != NULL) told.card = (FaultyCard)atoi(card);
  const char *lie = getenv("FAULTY_LIE");
  if (lie != NULL) told.lie = (unsigned)atoi(lie);
  const char *newer = getenv("FAULTY_NEWER");
  if (newer != NULL) told.newer = (unsigned)atoi(newer);
  order = told;
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
