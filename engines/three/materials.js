// SPDX-License-Identifier: MIT
// Copies of materials whose vertices deform spherically.

import { CHUNKS, DECLARATIONS } from "./shader.js";

const sources = new WeakMap(); // copy -> material
const copies = new WeakMap(); // material -> its copies

/** The material that a copy was made from, or the material itself. */
export const sourceMaterial = (material) => sources.get(material) ?? material;

/** Has later meshes get a new copy, as the material may change meanwhile. */
export const forgetMaterial = (material) => copies.delete(material);

/** A copy of a material. Meshes that share the material share the copy. */
export function patchMaterial(material, { how, eight, firstSet, adopt }) {
  const defines = { SBS_INFLUENCES: eight ? 8 : 4, [`SBS_${how.toUpperCase()}`]: "" };
  if (how === "joint_set") defines.SBS_FIRST_SET = firstSet;
  const key = JSON.stringify(defines);
  if (!copies.has(material)) copies.set(material, new Map());
  const known = copies.get(material);
  if (known.has(key)) return known.get(key);
  const copy = material.clone();
  copy.defines = { ...copy.defines, ...defines };
  copy.onBeforeCompile = (shader, renderer) => {
    material.onBeforeCompile.call(copy, shader, renderer);
    shader.vertexShader = patchShader(shader.vertexShader);
  };
  copy.customProgramCacheKey = () => `spherical ${material.customProgramCacheKey()}`;
  copy.onBeforeRender = (renderer, scene, camera, geometry, object, group) => {
    if (!renderer.isWebGLRenderer) throw new Error("sphericalSkinning: WebGPURenderer is not supported");
    material.onBeforeRender.call(copy, renderer, scene, camera, geometry, object, group);
    if (object.isSkinnedMesh) adopt(object); // a copy of a mesh, or one with another skeleton
  };
  sources.set(copy, material);
  known.set(key, copy);
  return copy;
}

function patchShader(source) {
  const replace = (name, code) => {
    const include = `#include <${name}>`;
    if (!source.includes(include)) throw new Error(`sphericalSkinning: a vertex shader lacks ${include}`);
    source = source.replace(include, () => code);
  };
  replace("skinning_pars_vertex", `#include <skinning_pars_vertex>\n${DECLARATIONS}`);
  for (const [name, code] of Object.entries(CHUNKS)) replace(name, code);
  return source;
}
