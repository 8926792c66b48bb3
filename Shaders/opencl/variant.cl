// Variants may be joined in one program, so all declared names contain the VARIANT. For element-wise functions VARIANT
// is the function's number. Without VARIANT a kernel contains all functions.
#undef NAMED
#undef CODE
#ifdef VARIANT
#define NAMED(x) JOIN(x##_, VARIANT)
#define CODE VARIANT
#else
#define NAMED(x) x
#define CODE s.code
#endif
