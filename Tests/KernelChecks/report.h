/* The beginning and end of a case. */
#pragma once
#include "check.h"

void begin_case(const char *family, const char *variant, uint64_t seed, size_t number, size_t index);
/* Gives its memory back; false where a result differed, and then `text` says how. */
bool end_case(char *text, size_t size);
