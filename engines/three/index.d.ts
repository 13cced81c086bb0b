// SPDX-License-Identifier: MIT
import { SkinnedMesh } from "three";
import { jointSet } from "./joint-set.js";

/**
 * The point about which a vertex turns.
 *
 * - `"optimized"`: found before, for each vertex at rest, with how much it blends spherically. They are the attribute
 *   `_SBS_CENTER`, which `sbs convert hero.glb --engine three -o web.glb` writes. The default of meshes that have it.
 * - `"weighted"`: found for each vertex in each pose, in the shader. It needs nothing of the file. The default of others.
 * - `jointSet`, from "three-spherical-skinning/joint-set.js": found for all vertices of the same bones in each pose, on
 *   the processor, as in the paper of 2005.
 */
export type Center = "optimized" | "weighted" | typeof jointSet;

/**
 * Has a mesh deform by spherical blend skinning. It gets copies of its materials, with the shadows of these; rays and
 * bounding boxes follow. What else has the same materials, geometry or skeleton stays as it is. Once more with another
 * center replaces the first. Copies of the mesh are to be given to it, too; those that are not do it when drawn first.
 *
 * @throws Error if the mesh has no skin, no skeleton or more than eight influences per vertex, if there is no such
 *   center, and for node materials. Drawing throws in WebGPURenderer.
 * @returns the mesh
 */
export function sphericalSkinning<Mesh extends SkinnedMesh>(mesh: Mesh, options?: { center?: Center }): Mesh;

/**
 * Has a mesh deform as three.js does: linearly, by its first four influences. All that it had comes back.
 *
 * @returns the mesh
 */
export function linearSkinning<Mesh extends SkinnedMesh>(mesh: Mesh): Mesh;
