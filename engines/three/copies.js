// SPDX-License-Identifier: MIT
// Copies of materials and geometries. Meshes that share one share its copy.

const originals = new WeakMap(); // of copies
const copies = new WeakMap(); // of originals, by key

export const originalOf = (object) => originals.get(object) ?? object;
export const forgetCopies = (original) => copies.delete(original);

export function copyOf(original, key, make) {
  if (!copies.has(original)) copies.set(original, {});
  const copy = (copies.get(original)[key] ??= make());
  if (copy !== original) originals.set(copy, original);
  return copy;
}
