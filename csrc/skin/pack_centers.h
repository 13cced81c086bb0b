/* SPDX-License-Identifier: MIT */
#ifndef SBS_SKIN_PACK_CENTERS_H
#define SBS_SKIN_PACK_CENTERS_H

#include "skin/skin.h"

/* Fills the centers of a skin that is packed, where the description has any. */
sbs_status sbs_pack_centers(sbs_skin *skin, const sbs_skin_desc *desc);

#endif
