// SPDX-License-Identifier: MIT
// Which three.js this is, as shaders are changed by the names of their chunks.

import { REVISION } from "three";

const LEAST = 163; // the least that draws right
const NEWEST = 180; // the newest that tests ran
let warned = false;

export function checkRevision() {
  const revision = Number.parseInt(REVISION);
  const here = `and this is r${REVISION}`;
  if (!(revision >= LEAST)) throw new Error(`sphericalSkinning needs three.js r${LEAST} or newer, ${here}`);
  if (revision > NEWEST && !warned) console.warn(`sphericalSkinning is tested up to three.js r${NEWEST}, ${here}`);
  warned ||= revision > NEWEST;
}
