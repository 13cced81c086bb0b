// SPDX-License-Identifier: MIT
// Copies of materials whose vertex shaders blend spherically.

import { copyOf } from "./copies.js";
import { CHUNKS } from "./shader.js";

export function copyMaterial(material, defines, adopt) {
  return copyOf(material, JSON.stringify(defines), () => {
    const copy = material.clone();
    copy.defines = { ...copy.defines, ...defines };
    copy.onBeforeCompile = (shader, renderer) => {
      material.onBeforeCompile.call(copy, shader, renderer);
      for (const [name, code] of Object.entries(CHUNKS)) {
        const parts = shader.vertexShader.split(`#include <${name}>`);
        if (parts.length < 2) throw new Error(`sphericalSkinning needs ${name} in a shader`);
        shader.vertexShader = parts.join(code);
      }
    };
    copy.customProgramCacheKey = () => `spherical ${material.customProgramCacheKey()}`;
    copy.onBeforeRender = (...given) => {
      if (!given[0].isWebGLRenderer) throw new Error("sphericalSkinning needs WebGLRenderer");
      material.onBeforeRender.apply(copy, given);
      const object = given[4];
      if (object.isSkinnedMesh) adopt(object); // a clone of a mesh, or a mesh with another skeleton
    };
    return copy;
  });
}
