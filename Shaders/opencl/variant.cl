// Variants may be one program: what each declares is named after its VARIANT, which of a function of elements is that
// function's number. Without one a kernel is of all functions.
#undef NAMED
#undef CODE
#ifdef VARIANT
#define NAMED(x) JOIN(x##_, VARIANT)
#define CODE VARIANT
#else
#define NAMED(x) x
#define CODE s.code
#endif
