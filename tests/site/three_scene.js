// SPDX-License-Identifier: MIT
// Characters in three.js, posed and drawn, and what was drawn read back; for test_three.py.

import * as THREE from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";
import { linearSkinning, sphericalMaterial, sphericalSkinning } from "three-spherical-skinning";
import { jointSet } from "three-spherical-skinning/joint-set.js";
import { TwistDrivers } from "three-spherical-skinning/twist-drivers.js";
import { capture } from "./readback.js";

export { GLTFLoader, jointSet, linearSkinning, sphericalMaterial, sphericalSkinning, THREE, TwistDrivers };

const canvas = document.createElement("canvas");
canvas.width = canvas.height = 64;
const context = canvas.getContext("webgl2");
const tape = capture(context);
export const renderer = new THREE.WebGLRenderer({ canvas, context });
renderer.shadowMap.enabled = true;
export const camera = new THREE.PerspectiveCamera(); // at the origin: view space is the world

const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
export const floats = (data) => new Float64Array(bytes(data).buffer);
const text = (array) => {
  const raw = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  let found = "";
  for (let i = 0; i < raw.length; i += 32768) found += String.fromCharCode(...raw.subarray(i, i + 32768));
  return btoa(found);
};

/** Objects in a scene, which a matrix of rows moves, with a light that casts shadows. */
export function stage(object, { around, light = "DirectionalLight" }) {
  const scene = new THREE.Scene();
  const group = new THREE.Group().add(object);
  if (around) group.applyMatrix4(new THREE.Matrix4().set(...around));
  const sun = new THREE[light](0xffffff, 2.5);
  sun.position.set(1, 2, 3);
  sun.castShadow = true;
  scene.add(group, sun);
  const meshes = [];
  scene.traverse((each) => each.isSkinnedMesh && meshes.push(each));
  meshes.forEach((mesh, i) => Object.assign(mesh, { castShadow: true, frustumCulled: false, renderOrder: i }));
  scene.updateMatrixWorld(true);
  return { scene, sun, meshes };
}

/** A character from a file of GLB, in Base64. */
export async function load(file, options = {}) {
  const gltf = await new GLTFLoader().parseAsync(bytes(file).buffer, "");
  return { gltf, mixer: new THREE.AnimationMixer(gltf.scene), ...stage(gltf.scene, options) };
}

/** A character from arrays in Base64, with bones at the origin at rest. With tangents it gets a normal map. */
export function build({ joints, attributes, morph }, options = {}) {
  const geometry = new THREE.BufferGeometry();
  const read = ([data, size]) => new THREE.BufferAttribute(new Float32Array(bytes(data).buffer), size);
  for (const [name, each] of Object.entries(attributes)) geometry.setAttribute(name, read(each));
  const material = new THREE.MeshStandardMaterial();
  if (attributes.tangent) material.normalMap = new THREE.DataTexture(new Uint8Array([128, 128, 255, 255]), 1, 1);
  if (morph) {
    geometry.morphAttributes.position = [read(morph)];
    geometry.morphTargetsRelative = true;
  }
  const mesh = new THREE.SkinnedMesh(geometry, material);
  if (morph) mesh.morphTargetInfluences[0] = 0.5;
  const bones = Array.from({ length: joints }, () => new THREE.Bone());
  mesh.add(...bones);
  mesh.bind(new THREE.Skeleton(bones));
  return stage(mesh, options);
}

export const centerOf = (name) => (name === "joint_set" ? jointSet : name);

/** Has the bones be where skinning matrices, 16 numbers by rows each, have them, whatever their nodes say. */
export function pose({ skeleton }, matrices) {
  skeleton.bones.forEach((bone, i) => {
    bone.matrixWorldAutoUpdate = bone.matrixAutoUpdate = false;
    bone.matrixWorld.set(...matrices.subarray(16 * i, 16 * i + 16));
    bone.matrixWorld.multiply(skeleton.boneInverses[i].clone().invert());
  });
}

/** What is drawn, in Base64: {outputs: [values of each call]}. */
export function draw(scene) {
  scene.traverse((object) => object.isMesh && object.geometry.setIndex(null));
  const found = {};
  for (const { outputs, values } of tape.read(() => renderer.render(scene, camera))) (found[outputs] ??= []).push(text(values));
  return found;
}

/** Where rays find the vertices of meshes. */
export function pick(meshes, step) {
  const found = [];
  for (const mesh of meshes) {
    for (let i = 0; i < mesh.geometry.attributes.position.count; i += step) {
      found.push(mesh.localToWorld(mesh.getVertexPosition(i, new THREE.Vector3())).toArray());
    }
  }
  return found;
}

/** Frames of a character in three.js: of matrices (Float64, Base64), or of an animation at some times. */
export async function frames({ file, arrays, matrices, clip, times, center, step = 97, ...options }) {
  const { scene, meshes, sun, mixer, gltf } = arrays ? build(arrays, options) : await load(file, options);
  if (center) for (const mesh of meshes) sphericalSkinning(mesh, { center: centerOf(center) });
  const all = matrices && floats(matrices);
  const size = 16 * meshes[0].skeleton.bones.length;
  if (clip) mixer.clipAction(THREE.AnimationClip.findByName(gltf.animations, clip)).play();
  const found = [];
  for (let frame = 0; frame < (all ? all.length / size : times.length); frame++) {
    if (all) pose(meshes[0], all.subarray(frame * size, (frame + 1) * size));
    else mixer.setTime(times[frame]);
    const drawn = draw(scene);
    const { projectionMatrix, matrixWorldInverse } = sun.shadow.camera;
    found.push({ drawn, picked: pick(meshes, step), sun: projectionMatrix.clone().multiply(matrixWorldInverse).toArray() });
  }
  return found;
}
