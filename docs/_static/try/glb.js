// SPDX-License-Identifier: MIT
// Reads what skinning needs of a GLB file: the meshes of all its skins, in their rest pose. Whatever else is in the
// file is left alone. Throws an Error with a sentence for people if the file can't be used.

import { IDENTITY, compose, invert, multiply, transform } from "./matrix.js";
import { joinSkins } from "./skins.js";

const COMPONENTS = {
  5120: Int8Array,
  5121: Uint8Array,
  5122: Int16Array,
  5123: Uint16Array,
  5125: Uint32Array,
  5126: Float32Array,
};
const LARGEST = { 5120: 127, 5121: 255, 5122: 32767, 5123: 65535 };
const WIDTHS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 };
const READ = new Set(["KHR_mesh_quantization", "KHR_texture_transform", "KHR_materials_unlit"]);

function open(buffer) {
  const view = new DataView(buffer);
  if (buffer.byteLength < 20 || view.getUint32(0, true) !== 0x46546c67) throw new Error("This is no GLB file.");
  const size = view.getUint32(12, true);
  if (20 + size > buffer.byteLength) throw new Error("The GLB file ends too early.");
  const json = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 20, size)));
  const begin = 20 + size + 8;
  return { json, binary: buffer.slice(Math.min(begin, buffer.byteLength)) };
}

/** The numbers of an accessor as an array of `kind`, and how many there are of each. */
function numbers({ json, binary }, index, kind) {
  const accessor = json.accessors?.[index];
  const bytes = json.bufferViews?.[accessor?.bufferView];
  if (!bytes || accessor.sparse) {
    throw new Error("The file has sparse or missing accessors, which this page does not read.");
  }
  if (bytes.buffer || json.buffers?.[0].uri) throw new Error("The file has its data in another file.");
  const Component = COMPONENTS[accessor.componentType];
  const width = WIDTHS[accessor.type];
  if (!Component || !width) throw new Error("An accessor is of an unknown type.");
  const row = width * Component.BYTES_PER_ELEMENT;
  const stride = bytes.byteStride ?? row;
  const begin = (bytes.byteOffset ?? 0) + (accessor.byteOffset ?? 0);
  if (begin + (accessor.count - 1) * stride + row > binary.byteLength) throw new Error("The GLB file ends too early.");
  const view = new DataView(binary);
  const get = view[`get${Component.name.replace("Array", "")}`].bind(view);
  const unit = accessor.normalized ? 1 / LARGEST[accessor.componentType] : 1;
  const out = new kind(accessor.count * width);
  for (let i = 0, k = 0; i < accessor.count; i++) {
    for (let j = 0; j < width; j++, k++) {
      out[k] = unit * get(begin + i * stride + j * Component.BYTES_PER_ELEMENT, true);
    }
  }
  return { values: out, width };
}

/** A matrix of glTF, column by column. */
const fromColumns = (m) => Float64Array.from([0, 1, 2].flatMap((i) => [m[i], m[4 + i], m[8 + i], m[12 + i]]));

function worlds(nodes, parents) {
  const found = new Array(nodes.length);
  const world = (i, depth = 0) => {
    if (depth > nodes.length) throw new Error("The nodes of the file run in a circle.");
    if (!found[i]) {
      const { matrix, translation = [0, 0, 0], rotation = [0, 0, 0, 1], scale = [1, 1, 1] } = nodes[i];
      const local = matrix ? fromColumns(matrix) : compose(translation, rotation, scale);
      found[i] = parents[i] < 0 ? local : multiply(world(parents[i], depth + 1), local);
    }
    return found[i];
  };
  return nodes.map((_, i) => world(i));
}

function normalsOf(positions, triangles) {
  const normals = new Float32Array(positions.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => 3 * triangles[t + k]);
    const [ux, uy, uz] = [0, 1, 2].map((k) => positions[b + k] - positions[a + k]);
    const [vx, vy, vz] = [0, 1, 2].map((k) => positions[c + k] - positions[a + k]);
    const n = [uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx];
    for (const corner of [a, b, c]) for (let k = 0; k < 3; k++) normals[corner + k] += n[k];
  }
  return normals;
}

function readSkin(file, number) {
  const { joints, inverseBindMatrices } = file.json.skins[number];
  if (inverseBindMatrices === undefined) return { joints, inverses: joints.map(() => IDENTITY) };
  const { values } = numbers(file, inverseBindMatrices, Float64Array);
  return { joints, inverses: joints.map((_, j) => fromColumns(values.subarray(16 * j, 16 * j + 16))) };
}

/**
 * Brings a mesh from its skin to all of them: joints by their numbers there, vertices in the common bind space. What has
 * no weight goes with the root of its skeleton.
 */
function bring(part, { joints, matrix }, parents) {
  part.joints.forEach((set, n) => {
    for (let i = 0; i < set.length; i++) {
      if (set[i] >= joints.length && part.weights[n][i]) throw new Error("A vertex has a joint that its skin lacks.");
      set[i] = joints[set[i]] ?? 0;
    }
  });
  let root = joints[0];
  while (parents[root] >= 0) root = parents[root];
  for (let v = 0; v < part.count; v++) {
    const weighted = part.weights.some((set) => set.subarray(4 * v, 4 * v + 4).some((weight) => weight > 0));
    if (!weighted) {
      part.joints[0][4 * v] = root;
      part.weights[0][4 * v] = 1;
    }
  }
  if (matrix === IDENTITY) return;
  const inverse = invert(matrix);
  const { positions, normals } = part;
  for (let i = 0; i < positions.length; i += 3) {
    positions.set(transform(matrix, positions.subarray(i, i + 3)), i);
    const [x, y, z] = normals.subarray(i, i + 3); // by the transpose of the inverse
    const turned = [0, 1, 2].map((k) => inverse[k] * x + inverse[4 + k] * y + inverse[8 + k] * z);
    const length = Math.hypot(...turned) || 1;
    normals.set(turned.map((value) => value / length), i);
  }
}

/**
 * Reads a character.
 *
 * @param {ArrayBuffer} buffer the file
 * @returns positions and normals (V, 3), joints and weights (V, K), triangles (T, 3), names and parents of joints (J),
 *   `nodes` their numbers in the file, `bind` the positions of joints in the space of the mesh (J, 3), and `rest` their
 *   skinning matrices (J, 3, 4); `unskinned` says how many meshes have no skin and are left out
 */
export function readCharacter(buffer) {
  const file = open(buffer);
  const { json } = file;
  for (const name of json.extensionsRequired ?? []) {
    if (!READ.has(name)) throw new Error(`The file needs ${name}, which this page does not read.`);
  }
  const nodes = json.nodes ?? [];
  const parentOf = new Int32Array(nodes.length).fill(-1);
  nodes.forEach((node, i) => (node.children ?? []).forEach((child) => (parentOf[child] = i)));
  const users = nodes.filter((node) => node.skin !== undefined && node.mesh !== undefined);
  if (!users.length) throw new Error("The file has no mesh with a skin.");
  const numbersOfSkins = [...new Set(users.map((node) => node.skin))];
  const skins = numbersOfSkins.map((number) => readSkin(file, number));
  const { nodes: joints, parents, bind, rest, uses } = joinSkins(skins, worlds(nodes, parentOf), parentOf);

  const primitives = users.flatMap(({ mesh, skin }) => {
    const use = uses[numbersOfSkins.indexOf(skin)];
    return json.meshes[mesh].primitives.map((primitive) => ({ primitive, use }));
  });
  const parts = primitives.map(({ primitive, use }) => {
    if ((primitive.mode ?? 4) !== 4) throw new Error("The file has a mesh that is not made of triangles.");
    const { POSITION, NORMAL, JOINTS_0, WEIGHTS_0 } = primitive.attributes;
    if (POSITION === undefined || JOINTS_0 === undefined || WEIGHTS_0 === undefined) {
      throw new Error("A mesh of the skin lacks positions, joints or weights.");
    }
    const sets = [0, 1, 2, 3].filter((n) => primitive.attributes[`JOINTS_${n}`] !== undefined);
    const positions = numbers(file, POSITION, Float32Array).values;
    const count = positions.length / 3;
    const triangles =
      primitive.indices === undefined
        ? Int32Array.from({ length: count }, (_, i) => i)
        : numbers(file, primitive.indices, Int32Array).values;
    if (triangles.some((corner) => corner < 0 || corner >= count)) {
      throw new Error("A triangle has a corner that is no vertex.");
    }
    const part = {
      count,
      positions,
      triangles,
      normals: NORMAL === undefined ? normalsOf(positions, triangles) : numbers(file, NORMAL, Float32Array).values,
      joints: sets.map((n) => numbers(file, primitive.attributes[`JOINTS_${n}`], Int32Array).values),
      weights: sets.map((n) => numbers(file, primitive.attributes[`WEIGHTS_${n}`], Float32Array).values),
    };
    bring(part, use, parents);
    return part;
  });

  const vertexCount = parts.reduce((sum, part) => sum + part.count, 0);
  const influences = 4 * Math.max(...parts.map((part) => part.joints.length));
  const character = {
    vertexCount,
    influences,
    positions: new Float32Array(3 * vertexCount),
    normals: new Float32Array(3 * vertexCount),
    joints: new Int32Array(influences * vertexCount),
    weights: new Float32Array(influences * vertexCount),
    triangles: new Int32Array(parts.reduce((sum, part) => sum + part.triangles.length, 0)),
    names: joints.map((node, j) => nodes[node].name ?? `joint ${j}`),
    nodes: joints,
    unskinned: nodes.filter((node) => node.mesh !== undefined && node.skin === undefined).length,
    parents,
    bind,
    rest,
  };
  let vertex = 0;
  let corner = 0;
  for (const part of parts) {
    character.positions.set(part.positions, 3 * vertex);
    character.normals.set(part.normals, 3 * vertex);
    part.triangles.forEach((v, i) => (character.triangles[corner + i] = vertex + v));
    for (let v = 0; v < part.count; v++) {
      part.joints.forEach((set, n) => {
        character.joints.set(set.subarray(4 * v, 4 * v + 4), influences * (vertex + v) + 4 * n);
        character.weights.set(part.weights[n].subarray(4 * v, 4 * v + 4), influences * (vertex + v) + 4 * n);
      });
    }
    vertex += part.count;
    corner += part.triangles.length;
  }
  return character;
}
