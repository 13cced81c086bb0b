// SPDX-License-Identifier: MIT

/**
 * The rotation centers of the paper of 2005: one for all vertices of the same bones, found in each pose, on the
 * processor. `sphericalSkinning(mesh, { center: jointSet })`
 */
export declare const jointSet: object;
