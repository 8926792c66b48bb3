#pragma once
/* Nothing to call: see mutex_for_tsan.c. */
