// SPDX-License-Identifier: MIT
// Spherical blend skinning (Kavan and Zara 2005) of the skinned meshes of three.js; index.d.ts is the manual.

import { MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking } from "three";
import { forgetCopies, originalOf } from "./copies.js";
import { copyGeometry } from "./influences.js";
import { copyMaterial } from "./materials.js";
import { change, extendSkeleton, releaseSkeleton } from "./skeleton.js";
import { deformVertex } from "./vertex.js";

const deformed = new WeakMap(); // mesh -> its skeleton, and what sets its properties back
const each = (materials, of) => (Array.isArray(materials) ? materials.map(of) : of(materials)); // one or several

export function sphericalSkinning(mesh, { center } = {}) {
  const need = (condition, what) => {
    if (!condition) throw new Error(`sphericalSkinning of "${mesh?.name}": ${what}`);
  };
  need(mesh?.isSkinnedMesh && mesh.skeleton, "it is no SkinnedMesh with a skeleton");
  linearSkinning(mesh);
  const { skeleton } = mesh;
  const { skinIndex, skinWeight, joints_2, _sbs_center } = mesh.geometry.attributes;
  center ??= _sbs_center ? "optimized" : "weighted";
  need(center.findSets || center === "optimized" || center === "weighted", `there is no center "${center}"`);
  need(center !== "optimized" || _sbs_center?.itemSize === 4, "it has no _SBS_CENTER of `sbs convert --engine three`");
  need(skinIndex && skinWeight && !joints_2, "it needs skinIndex and skinWeight of at most eight influences");
  each(mesh.material, (material) => need(!material.isNodeMaterial, "node materials are not supported"));

  const geometry = copyGeometry(mesh, center);
  const { joints_1, sbsSet } = geometry.attributes;
  const defines = { SBS_INFLUENCES: joints_1 ? 8 : 4 };
  defines[`SBS_${sbsSet ? "SETS" : center.toUpperCase()}`] = extendSkeleton(mesh, sbsSet?.sets ?? []);
  const adopt = (object) => {
    if (deformed.get(object)?.skeleton !== object.skeleton) sphericalSkinning(object, { center });
  };
  const copy = (material) => copyMaterial(material, defines, adopt);
  mesh.geometry = geometry;
  mesh.material = each(mesh.material, copy);
  const undo = change(mesh, {
    customDepthMaterial: copy(mesh.customDepthMaterial ?? new MeshDepthMaterial({ depthPacking: RGBADepthPacking })),
    customDistanceMaterial: copy(mesh.customDistanceMaterial ?? new MeshDistanceMaterial()),
    applyBoneTransform: (vertex, target) => deformVertex(mesh, center, vertex, target),
  });
  deformed.set(mesh, { skeleton, undo });
  mesh.boundingBox = mesh.boundingSphere = null;
  return mesh;
}

export function linearSkinning(mesh) {
  const state = deformed.get(mesh);
  if (state) {
    deformed.delete(mesh);
    state.undo();
    releaseSkeleton(state.skeleton, mesh);
    mesh.boundingBox = mesh.boundingSphere = null;
  }
  // Those of now: a clone of a mesh came with the mesh's copies, and others may have been set meanwhile.
  mesh.geometry = originalOf(mesh.geometry);
  mesh.material = each(mesh.material, originalOf);
  if (state) {
    // They may change before they are copied again.
    forgetCopies(mesh.geometry);
    each(mesh.material, forgetCopies);
  }
  return mesh;
}
