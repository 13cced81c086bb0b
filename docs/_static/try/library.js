// SPDX-License-Identifier: MIT
// libsbs as WebAssembly: docs/try/page.c.

export const METHODS = ["LBS", "smooth twist", "SBS", "DQS", "optimized", "twist"];

/** What the C library asks of a system: it finds no environment, and has nothing to say when it ends. */
function system(memory) {
  return {
    environ_get: () => 0,
    environ_sizes_get: (count, size) => {
      const view = new DataView(memory().buffer);
      view.setUint32(count, 0, true);
      view.setUint32(size, 0, true);
      return 0;
    },
    random_get: () => 52, // not supported
    proc_exit: (status) => {
      throw new Error(`the library ended with ${status}`);
    },
  };
}

export class Library {
  /** Loads the module. */
  static async load(url) {
    let exports;
    const imports = { wasi_snapshot_preview1: system(() => exports.memory) };
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url} could not be loaded.`);
    const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), imports);
    exports = instance.exports;
    exports._initialize();
    return new Library(exports);
  }

  constructor(exports) {
    this.exports = exports;
    this.kept = [];
  }

  get instructionSet() {
    return this.text(this.exports.instruction_set());
  }

  /** Takes a character in place of the one before; of what readCharacter returns. */
  bind(character) {
    this.kept.forEach((address) => this.exports.release(address));
    this.kept = [];
    const { vertexCount, influences, positions, normals, joints, weights, parents, bind, triangles, rest } = character;
    const arrays = [positions, normals, joints, weights, parents, bind].map((array) => this.put(array));
    this.triangles = this.put(triangles);
    this.pose = this.put(rest);
    this.out = this.put(positions);
    this.outNormals = this.put(normals);
    this.character = character;
    this.check(this.exports.bind(vertexCount, influences, parents.length, ...arrays));
  }

  /** Finds the optimized centers that a method needs, by its number; once for a character and its limbs. */
  findCenters(method) {
    this.check(this.exports.find_centers(method, this.character.triangles.length / 3, this.triangles));
  }

  /** Spreads twists along the bones of limbs: each has a joint, a child or -1, a head and a tail. */
  spreadTwists(limbs) {
    const arrays = [
      Int32Array.from(limbs, ({ joint }) => joint),
      Int32Array.from(limbs, ({ joint }) => this.character.parents[joint]),
      Int32Array.from(limbs, ({ child }) => child),
      Float64Array.from(limbs.flatMap(({ head }) => head)),
      Float64Array.from(limbs.flatMap(({ tail }) => tail)),
    ].map((array) => this.put(array, false));
    const status = this.exports.spread_twists(limbs.length, ...arrays);
    arrays.forEach((address) => this.exports.release(address));
    this.check(status);
  }

  /** Deforms by a method's number; returns views of the module's memory, which the next call overwrites. */
  deform(method, matrices) {
    new Float64Array(this.exports.memory.buffer, this.pose, matrices.length).set(matrices);
    this.check(this.exports.deform(method, this.pose, this.out, this.outNormals));
    const { buffer } = this.exports.memory;
    const count = 3 * this.character.vertexCount;
    return {
      positions: new Float32Array(buffer, this.out, count),
      normals: new Float32Array(buffer, this.outNormals, count),
    };
  }

  put(array, keep = true) {
    const address = this.exports.allocate(array.byteLength || 1);
    if (!address) throw new Error("The page has no more memory.");
    new array.constructor(this.exports.memory.buffer, address, array.length).set(array);
    if (keep) this.kept.push(address);
    return address;
  }

  check(status) {
    if (status) throw new Error(`libsbs: ${this.text(this.exports.status_string(status))}`);
  }

  text(address) {
    const bytes = new Uint8Array(this.exports.memory.buffer, address);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
}
