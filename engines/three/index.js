// SPDX-License-Identifier: MIT
// Spherical blend skinning (Kavan and Zara 2005) of the skinned meshes of three.js.

import { MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking } from "three";
import { forgetGeometry, prepareGeometry, sourceGeometry } from "./geometry.js";
import { forgetMaterial, patchMaterial, sourceMaterial } from "./materials.js";
import { extendSkeleton, change, releaseSkeleton } from "./skeleton.js";
import { deformVertex } from "./vertex.js";

const CENTERS = ["optimized", "weighted", "joint_set"];
const patched = new WeakMap(); // mesh -> { skeleton, undo }

/** Has a mesh deform spherically; index.d.ts has the manual. */
export function sphericalSkinning(mesh, { center } = {}) {
  if (!mesh?.isSkinnedMesh) throw new Error("sphericalSkinning needs a SkinnedMesh; other meshes, instanced ones too, have no skin");
  const { name, skeleton } = mesh;
  const fail = (what) => {
    throw new Error(`sphericalSkinning of "${name}": ${what}`);
  };
  if (!skeleton) fail("it has no skeleton; bind it first");
  linearSkinning(mesh);
  const { _sbs_center, joints_2, skinIndex, skinWeight } = mesh.geometry.attributes;
  const how = center ?? (_sbs_center ? "optimized" : "weighted");
  if (!CENTERS.includes(how)) fail(`center is "${how}" and not one of "${CENTERS.join('", "')}"`);
  if (how === "optimized" && _sbs_center?.itemSize !== 4) {
    fail('"optimized" needs the attribute _SBS_CENTER, which `sbs convert --engine three` writes');
  }
  if (!skinIndex || !skinWeight) fail("its geometry has no skinIndex and skinWeight");
  if (joints_2) fail("it has more than eight influences per vertex");
  if ([mesh.material].flat().some((material) => material.isNodeMaterial)) {
    fail("node materials, and WebGPURenderer, are not supported");
  }

  const { geometry, sets } = prepareGeometry(mesh, how);
  const firstSet = extendSkeleton(mesh, sets);
  const adopt = (object) => {
    if (patched.get(object)?.skeleton !== object.skeleton) sphericalSkinning(object, { center: how });
  };
  const patch = (material) => patchMaterial(material, { how, eight: "joints_1" in geometry.attributes, firstSet, adopt });
  const undo = change(mesh, {
    geometry,
    material: Array.isArray(mesh.material) ? mesh.material.map(patch) : patch(mesh.material),
    customDepthMaterial: patch(mesh.customDepthMaterial ?? new MeshDepthMaterial({ depthPacking: RGBADepthPacking })),
    customDistanceMaterial: patch(mesh.customDistanceMaterial ?? new MeshDistanceMaterial()),
    applyBoneTransform: (vertex, target) => deformVertex(mesh, how, sets, vertex, target),
    boundingBox: null,
    boundingSphere: null,
  });
  patched.set(mesh, { skeleton, undo });
  return mesh;
}

/** Has a mesh deform as three.js does, as before. */
export function linearSkinning(mesh) {
  const state = patched.get(mesh);
  if (state) {
    patched.delete(mesh);
    for (const material of [mesh.customDepthMaterial, mesh.customDistanceMaterial]) material.dispose();
    state.undo();
    releaseSkeleton(state.skeleton, mesh);
    forgetGeometry(mesh.geometry);
    [mesh.material].flat().forEach(forgetMaterial);
    mesh.boundingBox = mesh.boundingSphere = null;
  } else if (mesh.isSkinnedMesh) {
    // It may be a copy of a mesh that deforms spherically.
    mesh.geometry = sourceGeometry(mesh.geometry);
    mesh.material = Array.isArray(mesh.material) ? mesh.material.map(sourceMaterial) : sourceMaterial(mesh.material);
  }
  return mesh;
}
