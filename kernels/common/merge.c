#include "merge.h"

#include <string.h>

#define KEY uint32_t
#define NAMED(name) name##_u32
#include "merge_template.h"
#undef KEY
#undef NAMED

#define KEY uint64_t
#define NAMED(name) name##_u64
#include "merge_template.h"
