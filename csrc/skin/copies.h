/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_COPIES_H
#define SBS_SKIN_COPIES_H

#include "skin/skin.h"

/* Lists the copies of a skin whose blocks are packed and marked. Errors: OUT_OF_MEMORY. */
sbs_status sbs_list_copies(sbs_skin *skin);

#endif
