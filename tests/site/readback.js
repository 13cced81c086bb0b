// SPDX-License-Identifier: MIT
// What three.js draws, read back: its own programs, with transform feedback of some of their outputs.

// A program with the first of these texts in its source has captured what follows: so many floats of each vertex.
const CAPTURED = [
  { text: "#define USE_TANGENT", outputs: ["vViewPosition", "vNormal", "vTangent"], floats: 9 },
  { text: "#define SHADER_TYPE MeshStandardMaterial", outputs: ["vViewPosition", "vNormal"], floats: 6 },
  { text: "#define SHADER_TYPE MeshDistanceMaterial", outputs: ["vWorldPosition"], floats: 3 },
  { text: "gl_Position", outputs: ["gl_Position"], floats: 4 },
];

/**
 * Has all programs of a context capture their outputs. `read(draw)` returns the draw calls of triangles as
 * `[{ outputs, values }]`. Meshes must have no index: vertices come in their order, but for those after the last triangle.
 */
export function capture(gl, kinds = CAPTURED) {
  const sources = new Map(); // of shaders
  const attached = new Map(); // the sources of programs
  const captured = new Map(); // what programs capture
  let program = null;
  let calls = null;

  function replace(name, by) {
    const own = gl[name].bind(gl);
    gl[name] = (...given) => by(own, ...given);
  }
  replace("shaderSource", (own, shader, source) => {
    sources.set(shader, source);
    own(shader, source);
  });
  replace("attachShader", (own, to, shader) => {
    attached.set(to, (attached.get(to) ?? "") + sources.get(shader));
    own(to, shader);
  });
  replace("linkProgram", (own, linked) => {
    const kind = kinds.find(({ text }) => attached.get(linked).includes(text));
    if (kind) gl.transformFeedbackVaryings(linked, kind.outputs, gl.INTERLEAVED_ATTRIBS);
    captured.set(linked, kind);
    own(linked);
  });
  replace("useProgram", (own, used) => own((program = used)));
  replace("drawArrays", (own, mode, first, count) => {
    const kind = captured.get(program);
    if (!calls || !kind || mode !== gl.TRIANGLES) return own(mode, first, count);
    const whole = count - (count % 3);
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.TRANSFORM_FEEDBACK_BUFFER, buffer);
    gl.bufferData(gl.TRANSFORM_FEEDBACK_BUFFER, 4 * kind.floats * whole, gl.STREAM_READ);
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, buffer);
    gl.beginTransformFeedback(gl.TRIANGLES);
    own(mode, first, whole);
    gl.endTransformFeedback();
    const values = new Float32Array(kind.floats * whole);
    gl.getBufferSubData(gl.TRANSFORM_FEEDBACK_BUFFER, 0, values);
    gl.bindBufferBase(gl.TRANSFORM_FEEDBACK_BUFFER, 0, null);
    gl.deleteBuffer(buffer);
    calls.push({ outputs: kind.outputs.join(), values });
  });
  return {
    read(draw) {
      calls = [];
      draw();
      const found = calls;
      calls = null;
      return found;
    },
  };
}
