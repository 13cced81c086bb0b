// SPDX-License-Identifier: MIT
import { Material, SkinnedMesh } from "three";
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
 * Hooks that are set on `mesh.material` later, `onBeforeCompile` and `customProgramCacheKey`, come on top of the change
 * of its shader, and its `clone()` deforms spherically, too.
 *
 * Twist joints, which files of `sbs convert --engine three` have along limbs, are turned by the bones as they are
 * before each draw: twist-drivers.js, for clips without keys for them. A warning tells if their extras are damaged.
 *
 * A warning in the console tells if the file had centers and another tool removed them, or changed positions otherwise
 * than by a scale and an offset; the default is then `"weighted"`. Centers of scaled positions are scaled with them.
 *
 * @throws Error if the mesh has no skin, no skeleton or more than eight influences per vertex, if there is no such
 *   center, for node materials and for shaders that lack chunks of skinning, `skinnormal_vertex` among them, and in
 *   three.js before r163. Drawing throws in WebGPURenderer.
 * @returns the mesh
 */
export function sphericalSkinning<Mesh extends SkinnedMesh>(mesh: Mesh, options?: { center?: Center }): Mesh;

/**
 * A copy of a material for another pass that draws a mesh: `scene.overrideMaterial`, an outline, depth or an ID. Each
 * mesh that it draws deforms as it does by its own material, spherical or linear. As `customDepthMaterial` it is for
 * this mesh alone, since three.js says nothing of the mesh there.
 *
 * @param mesh has been given to `sphericalSkinning`; make another copy if that is called again
 * @throws Error if it has not, and for materials that `sphericalSkinning` refuses
 */
export function sphericalMaterial<Given extends Material>(material: Given, mesh: SkinnedMesh): Given;

/**
 * Has a mesh deform as three.js does: linearly, by its first four influences. All that it had comes back.
 *
 * @returns the mesh
 */
export function linearSkinning<Mesh extends SkinnedMesh>(mesh: Mesh): Mesh;
