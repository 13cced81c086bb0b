// SPDX-License-Identifier: MIT
// Copies of materials whose vertex shaders blend spherically.

import { copyOf } from "./copies.js";
import { CHUNKS } from "./shader.js";

const MARK = "// spherical.glsl begins";

/** The names of chunks that the shader of a material lacks. Built-in materials show theirs when they are compiled. */
export const missingChunks = ({ isShaderMaterial, vertexShader }) =>
  isShaderMaterial ? Object.keys(CHUNKS).filter((name) => !vertexShader.includes(`#include <${name}>`)) : [];

/** A copy for meshes of these defines. `before(object)` is called before a skinned mesh is drawn with it. */
export function copyMaterial(material, defines, before) {
  return copyOf(material, JSON.stringify(defines), () => makeCopy(material, defines, before));
}

/** A copy that takes the defines of each mesh before it is drawn, for passes that draw several: none is linear. */
export function copyForPass(material, defines, definesOf) {
  return copyOf(material, `pass ${JSON.stringify(defines)}`, () => {
    let now = defines;
    const copy = makeCopy(material, defines, (object) => {
      const own = definesOf(object);
      if (JSON.stringify(own) === JSON.stringify(now)) return;
      copy.defines = { ...withoutOurs(copy.defines), ...own };
      copy.needsUpdate = true;
      now = own;
    });
    return copy;
  });
}

const withoutOurs = (defines = {}) =>
  Object.fromEntries(Object.entries(defines).filter(([name]) => !name.startsWith("SBS_")));

function makeCopy(material, defines, before) {
  const copy = material.clone();
  copy.defines = { ...copy.defines, ...defines };
  chainHooks(copy, material);
  copy.onBeforeRender = (...given) => {
    if (!given[0].isWebGLRenderer) throw new Error("sphericalSkinning needs WebGLRenderer");
    material.onBeforeRender.apply(copy, given);
    const object = given[4];
    if (object.isSkinnedMesh) before(object);
  };
  copy.clone = () => {
    const plain = Object.getPrototypeOf(copy).clone.call(copy);
    if (plain.defines) plain.defines = withoutOurs(plain.defines);
    return copyMaterial(plain, defines, before);
  };
  return copy;
}

/** Has hooks that are set on a copy, at any time, come before the change of its shader, and count for its program. */
function chainHooks(copy, material) {
  const chain = (hook) => (shader, renderer) => {
    hook.call(copy, shader, renderer);
    // A hook may have called the one that it took the place of. A pass may draw a mesh linearly.
    if (!shader.vertexShader.includes(MARK) && copy.defines.SBS_INFLUENCES) changeShader(shader);
  };
  let chained = chain((...given) => material.onBeforeCompile.apply(copy, given));
  let hookText = "";
  let ownKey = () => `${hookText} ${material.customProgramCacheKey()}`;
  const key = () => `spherical ${ownKey.call(copy)}`;
  Object.defineProperties(copy, {
    onBeforeCompile: {
      get: () => chained,
      set(hook) {
        chained = chain(hook);
        hookText = hook.toString();
      },
    },
    customProgramCacheKey: {
      get: () => key,
      set(own) {
        ownKey = () => `${hookText} ${own.call(copy)}`;
      },
    },
  });
}

function changeShader(shader) {
  for (const [name, code] of Object.entries(CHUNKS)) {
    const parts = shader.vertexShader.split(`#include <${name}>`);
    if (parts.length < 2) throw new Error(`sphericalSkinning needs ${name} in a shader`);
    shader.vertexShader = parts.join(code);
  }
}
