// SPDX-License-Identifier: MIT
// Spherical blend skinning (Kavan and Zara 2005) of the skinned meshes of three.js; index.d.ts is the manual.

import { MeshDepthMaterial, MeshDistanceMaterial, RGBADepthPacking } from "three";
import { fitCenters } from "./centers.js";
import { forgetCopies, originalOf } from "./copies.js";
import { copyGeometry } from "./influences.js";
import { copyForPass, copyMaterial, missingChunks } from "./materials.js";
import { checkRevision } from "./revision.js";
import { change, extendSkeleton, releaseSkeleton } from "./skeleton.js";
import { deformVertex } from "./vertex.js";

const deformed = new WeakMap(); // mesh -> its skeleton, its defines, and a function that sets its properties back
const each = (materials, of) => (Array.isArray(materials) ? materials.map(of) : of(materials)); // one or several

const needIn = (mesh) => (condition, reason) => {
  if (!condition) throw new Error(`sphericalSkinning of "${mesh?.name}": ${reason}`);
};

export function sphericalSkinning(mesh, { center } = {}) {
  checkRevision();
  const need = needIn(mesh);
  need(mesh?.isSkinnedMesh && mesh.skeleton, "it is no SkinnedMesh with a skeleton");
  linearSkinning(mesh);
  const { skeleton } = mesh;
  const { skinIndex, skinWeight, joints_2, _sbs_center } = mesh.geometry.attributes;
  const asked = center;
  const centers = _sbs_center?.itemSize === 4 ? fitCenters(mesh.geometry) : undefined;
  center ??= centers ? "optimized" : "weighted";
  need(center.findSets || center === "optimized" || center === "weighted", `there is no center "${center}"`);
  need(center !== "optimized" || centers !== null, "its _SBS_CENTER does not fit its positions, changed since");
  need(center !== "optimized" || centers, "it has no _SBS_CENTER of `sbs convert --engine three`");
  need(skinIndex && skinWeight && !joints_2, "it needs skinIndex and skinWeight of at most eight influences");
  each(mesh.material, (material) => checkMaterial(material, need));
  if (!asked) warnOfFile(mesh, centers);

  const geometry = copyGeometry(mesh, center, centers);
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
  deformed.set(mesh, { skeleton, defines, undo });
  mesh.boundingBox = mesh.boundingSphere = null;
  return mesh;
}

/** Says so if a file had centers for the default, and has them no longer. */
function warnOfFile({ name, geometry }, centers) {
  if (centers || !geometry.userData.sbs_positions) return;
  const reason = centers === null ? "does not fit its positions, which were changed since" : "was removed";
  console.warn(`sphericalSkinning of "${name}": its _SBS_CENTER ${reason}; it blends about weighted centers instead`);
}

function checkMaterial(material, need) {
  need(!material.isNodeMaterial, "node materials are not supported");
  const missing = missingChunks(material);
  need(!missing.length, `its material needs ${missing.join(", ")} in its vertex shader`);
}

export function sphericalMaterial(material, mesh) {
  const need = needIn(mesh);
  const state = deformed.get(mesh);
  need(state, "call sphericalSkinning first, then sphericalMaterial");
  const original = originalOf(material);
  checkMaterial(original, need);
  return copyForPass(original, state.defines, (object) => deformed.get(object)?.defines);
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
